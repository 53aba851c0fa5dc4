import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Builds deploy/Dockerfile where there is no container engine: Debian's buildah in chroot isolation, on a base image made by
 * debootstrap. Needs root, buildah and debootstrap.
 */
export interface BuiltImage {
  readonly name: string;
  /** One buildah command in the image's own storage. */
  buildah(...args: string[]): string;
  /** The words that start a program with this storage, for those that run long. */
  readonly prefix: readonly string[];
  remove(): void;
}

const SUITE = "bookworm";
const MIRROR = "http://deb.debian.org/debian";
/** Half a minute to make, and the same for every build. */
const CACHE = "node_modules/.cache/llmc-image";
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

export function buildImage(tarball: string): BuiltImage {
  const work = mkdtempSync(join(tmpdir(), "llmc-image-"));
  const storage = ["--root", join(work, "root"), "--runroot", join(work, "run"), "--storage-driver", "vfs"];
  const env = { ...process.env, BUILDAH_ISOLATION: "chroot", STORAGE_DRIVER: "vfs", _BUILDAH_STARTED_IN_USERNS: "" };
  const buildah = (...args: string[]) =>
    execFileSync("buildah", [...storage, ...args], {
      encoding: "utf8",
      env,
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  const remove = () => rmSync(work, { recursive: true, force: true });
  try {
    const base = commit(buildah, "llmc-base", (container) => buildah("add", "-q", container, baseArchive()));
    const build = commit(buildah, "llmc-build", (container) => addNode(buildah, container), base);
    const context = join(work, "context");
    mkdirSync(context);
    copyFileSync(tarball, join(context, "llmc-0.0.0.tgz"));
    buildah(
      "bud",
      ...["--file", "deploy/Dockerfile", "--tag", "llmc", "--format", "docker"],
      ...["--build-arg", `BASE_IMAGE=${base}`, "--build-arg", `BUILD_IMAGE=${build}`],
      ...certificates(),
      context,
    );
    return { name: "llmc", buildah, prefix: ["buildah", ...storage], remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function commit(
  buildah: BuiltImage["buildah"],
  name: string,
  fill: (container: string) => void,
  from = "scratch",
): string {
  const container = buildah("from", "--pull-never", from);
  fill(container);
  buildah("commit", "-q", "--rm", container, name);
  return `localhost/${name}`;
}

/** debian:bookworm-slim, as near as a machine without a registry comes to it. */
function baseArchive(): string {
  const archive = join(CACHE, `${SUITE}.tar`);
  if (existsSync(archive)) return archive;
  const folder = mkdtempSync(join(tmpdir(), "llmc-base-"));
  try {
    execFileSync("debootstrap", ["--variant=minbase", SUITE, join(folder, "root"), MIRROR], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    for (const unneeded of ["var/cache/apt/archives", "usr/share/doc", "usr/share/locale", "var/lib/apt/lists"])
      rmSync(join(folder, "root", unneeded), { recursive: true, force: true });
    mkdirSync(join(folder, "root", "var/cache/apt/archives/partial"), { recursive: true });
    mkdirSync(CACHE, { recursive: true });
    execFileSync("tar", ["--create", "--file", join(folder, "base.tar"), "--directory", join(folder, "root"), "."]);
    cpSync(join(folder, "base.tar"), `${archive}.${process.pid}`);
    renameSync(`${archive}.${process.pid}`, archive);
    return archive;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What node:24-bookworm-slim has that the base has not: our own Node, and the npm of this machine. */
function addNode(buildah: BuiltImage["buildah"], container: string): void {
  const found = (process.env["PATH"] ?? "").split(":").map((folder) => join(folder, "npm"));
  const cli = found.find((file) => existsSync(file));
  if (cli === undefined) throw new Error("No npm on the PATH.");
  const npm = join(realpathSync(cli), "..", "..");
  buildah("copy", "-q", container, process.execPath, "/usr/local/bin/node");
  buildah("copy", "-q", container, npm, "/usr/local/lib/node_modules/npm");
  buildah("run", container, "--", "ln", "-s", "../lib/node_modules/npm/bin/npm-cli.js", "/usr/local/bin/npm");
}

/** A network with a certificate authority of its own. */
function certificates(): string[] {
  if (!process.env["NODE_EXTRA_CA_CERTS"] || !existsSync(CERTIFICATES)) return [];
  return ["--volume", `${CERTIFICATES}:/tmp/ca.crt:ro`, "--build-arg", "NODE_EXTRA_CA_CERTS=/tmp/ca.crt"];
}
