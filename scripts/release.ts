import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { journey } from "../tests/first-run/journey.ts";

/**
 * Builds, checks, packs, and tries the package in an empty folder as a new user would. Leaves llmc-VERSION.tgz, which is what to publish;
 * publishes nothing itself. `--unchecked` leaves out the tests, which take minutes.
 */
const MAX_BYTES = 60e6;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly mcpName: string;
}

const step = (name: string) => console.log(`\n== ${name}`);
const json = <T>(file: string) => JSON.parse(readFileSync(file, "utf8")) as T;

function refuse(reason: string): never {
  console.error(`\nNot released: ${reason}`);
  process.exit(1);
}

step("versions agree");
const { name, version, mcpName } = json<Manifest>("package.json");
const server = json<{ name: string; version: string; packages: { identifier: string; version: string }[] }>(
  "server.json",
);
if (server.name !== mcpName) refuse(`server.json says ${server.name}, package.json ${mcpName}.`);
for (const stated of [server, ...server.packages])
  if (stated.version !== version) refuse(`server.json says ${stated.version}, package.json ${version}.`);
if (!readFileSync("CHANGELOG.md", "utf8").includes(`## ${version}`))
  refuse(`CHANGELOG.md has no section for ${version}.`);

step("build");
execFileSync("node", ["scripts/build.ts"], { stdio: "inherit" });
if (!process.argv.includes("--unchecked")) {
  step("every check and every test");
  execFileSync("node", ["scripts/check.ts"], { stdio: "inherit" });
}

step("pack, and try it in an empty folder");
const folder = mkdtempSync(join(tmpdir(), "llmc-release-"));
try {
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder]);
  const file = readdirSync(folder).find((entry) => entry === `${name}-${version}.tgz`);
  if (file === undefined) refuse("npm pack made no package of this version.");
  const { size } = statSync(join(folder, file));
  if (size > MAX_BYTES) refuse(`the package is ${(size / 1e6).toFixed(1)} MB; ${MAX_BYTES / 1e6} are allowed.`);
  const made = await journey(folder, join(folder, file));
  if (!made.first_call.text.includes("# shop")) refuse("the first call got no answer.");
  for (const { typed, shown } of made.steps) if (/^✗/m.test(shown)) refuse(`${typed} found something wrong:\n${shown}`);
  if (existsSync(file)) rmSync(file);
  copyFileSync(join(folder, file), file);
  console.log(`\n${file}: ${(size / 1e6).toFixed(1)} MB, tried in ${made.seconds.toFixed(0)} s.`);
  console.log(`Publish it: npm publish ${file}, then mcp-publisher publish.`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
