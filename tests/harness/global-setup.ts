import { execFileSync } from "node:child_process";
import { existsSync, globSync, statSync } from "node:fs";

/** Tests start the built binary: it is built again when a source is newer. */
export default function setup(): void {
  const built = existsSync("dist/main.mjs") ? statSync("dist/main.mjs").mtimeMs : 0;
  const sources = [...globSync("src/**/*.ts"), "scripts/build.ts", "package.json"];
  if (sources.some((file) => statSync(file).mtimeMs > built))
    execFileSync(process.execPath, ["scripts/build.ts"], { stdio: "inherit" });
}
