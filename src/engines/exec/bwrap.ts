import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { inside } from "../../base/path/index.ts";
import { realOr } from "./resolve.ts";
import type { Protected } from "./shield.ts";

/** What of the system a program needs to run. Everything else on the disk is not there at all. */
const SYSTEM = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/etc",
  "/opt",
  "/nix/store",
  "/gnu/store",
];

/** Files of the system that hold secrets, which a server run by root could read. */
const SECRETS = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/ssh",
  "/etc/ssl/private",
  "/etc/wireguard",
  "/etc/NetworkManager/system-connections",
  "/etc/krb5.keytab",
  "/etc/kubernetes",
  "/etc/rancher",
  "/etc/docker/key.json",
  "/etc/letsencrypt",
];

const TMPFS_BYTES = String(512 * 1024 * 1024);
/** Where a private folder of the server shows up inside. */
export const PRIVATE = "/run/llmc";

export interface SandboxFacts {
  readonly bwrap: string;
  readonly roots: readonly string[];
  readonly home: string;
  readonly state_dir: string;
  /** Folders of programs that the server's PATH names. */
  readonly program_dirs: readonly string[];
  readonly network: boolean;
}

export interface SandboxRun {
  readonly cwd: string;
  readonly names: readonly Protected[];
  /** `write`: the roots are writable but for the protected names. `read`: they are not. */
  readonly roots: "write" | "read";
  /** The network is somebody else's: the caller already stands in it. */
  readonly keep_network?: boolean;
  /** A folder of the server that the program may write to, shown at PRIVATE. */
  readonly private_dir?: string;
}

/** Makes the options of bubblewrap. What does not change from run to run is made once. */
export function createSandbox(facts: SandboxFacts): (run: SandboxRun) => string[] {
  // The whole disk as a root goes below everything else, or it would uncover what the others cover.
  const whole = facts.roots.includes("/");
  const roots = facts.roots.filter((root) => root !== "/");
  const system = [...systemMounts(whole), ...toolchainMounts(facts, whole)];
  return (run) => [
    ...namespaces(facts.network || run.keep_network === true),
    ...(whole ? [run.roots === "write" ? "--bind" : "--ro-bind", "/", "/"] : []),
    ...system,
    ...roots.flatMap((root) => [run.roots === "write" ? "--bind" : "--ro-bind", root, root]),
    ...run.names.flatMap(cover),
    ...stubs(facts),
    ...(run.private_dir === undefined ? [] : ["--bind", run.private_dir, PRIVATE]),
    "--chdir",
    run.cwd,
  ];
}

/** No session of its own: every sandbox starts in one without a terminal, and its group is how the watchdog reaches all of it. */
function namespaces(withNetwork: boolean): string[] {
  const shared = [
    "--die-with-parent",
    "--unshare-user",
    "--unshare-pid",
    "--as-pid-1",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
  ];
  return [...shared, ...(withNetwork ? [] : ["--unshare-net"]), "--cap-drop", "ALL", "--hostname", "sandbox"];
}

function systemMounts(whole: boolean): string[] {
  const mounts = (whole ? [] : SYSTEM).flatMap((path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) return [];
    return stat.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  });
  const masks = SECRETS.flatMap((path) =>
    existsSync(path) ? mask({ path, kind: lstatSync(path).isDirectory() ? "folder" : "file", masked: true }) : [],
  );
  const memory = ["/tmp", "/var/tmp", "/run"].flatMap((path) => [
    "--perms",
    "1777",
    "--size",
    TMPFS_BYTES,
    "--tmpfs",
    path,
  ]);
  return [
    ...mounts,
    ...masks,
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    ...memory,
    ...(whole ? [] : ["--symlink", "/run", "/var/run"]),
    ...resolver(),
  ];
}

/** Name resolution often is a link into /run, which is empty inside. */
function resolver(): string[] {
  const real = realOr("/etc/resolv.conf");
  return inside(real, "/run") && existsSync(real) ? ["--ro-bind", real, real] : [];
}

/** An empty home in memory, with the toolchains of the PATH in it, read-only. */
function toolchainMounts(facts: SandboxFacts, whole: boolean): string[] {
  if (whole || facts.home === "/") return [];
  const folders = new Set(facts.program_dirs.map(realOr).flatMap((dir) => toolchain(dir, facts.home)));
  const binds = [...folders].filter((dir) => existsSync(dir) && !SYSTEM.some((system) => inside(dir, system))).sort();
  const secrets = ["credentials", "credentials.toml"]
    .map((name) => join(facts.home, ".cargo", name))
    .filter(existsSync);
  return [
    "--perms",
    "0700",
    "--size",
    TMPFS_BYTES,
    "--tmpfs",
    facts.home,
    ...binds.flatMap((dir) => ["--ro-bind", dir, dir]),
    ...secrets
      .filter((path) => binds.some((dir) => inside(path, dir)))
      .flatMap((path) => mask({ path, kind: "file", masked: true })),
  ];
}

/** The folder that a folder of programs belongs to, when that is a toolchain's own; else only itself. */
function toolchain(dir: string, home: string): string[] {
  const parent = dirname(dir);
  const isTooBroad =
    parent === home || parent === join(home, ".local") || parent.split("/").length < 3 || inside(home, parent);
  if (!/\/(bin|shims|sbin)$/.test(dir) || isTooBroad) return isTooBroad && !inside(dir, home) ? [] : [dir];
  if (parent === join(home, ".cargo")) return [parent, join(home, ".rustup")];
  const pyenv = /^(.*\/\.pyenv)\//.exec(dir);
  return pyenv ? [pyenv[1]!] : [parent];
}

function cover(name: Protected): string[] {
  return name.masked ? mask(name) : ["--ro-bind", name.path, name.path];
}

function mask(name: Protected): string[] {
  if (name.kind === "file") return ["--ro-bind", "/dev/null", name.path];
  // Left writable by its owner: what is written there is gone with the sandbox, and a second mount would cost as much as ten.
  return ["--perms", "0555", "--size", "4096", "--tmpfs", name.path];
}

/** Type stubs for code mode lie in the state folder and may be read. */
function stubs(facts: SandboxFacts): string[] {
  const path = join(facts.state_dir, "stubs");
  return facts.roots.some((root) => inside(path, root)) && existsSync(path) ? ["--ro-bind", path, path] : [];
}
