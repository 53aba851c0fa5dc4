/** A hostile neighbour: lets a file, and a folder, be a link that leads out, then itself again, as fast as it can. `<inside> <outside>` */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [inside = "", outside = ""] = process.argv.slice(2);
const at = (name: string) => join(inside, name);
const steps = [
  () => symlinkSync(join(outside, "secret.txt"), at(".l")),
  () => renameSync(at(".l"), at("victim.txt")),
  () => writeFileSync(at(".f"), "harmless\n"),
  () => renameSync(at(".f"), at("victim.txt")),
  () => symlinkSync(outside, at(".d")),
  () => renameSync(at("folder"), at(".aside")),
  () => renameSync(at(".d"), at("folder")),
  () => rmSync(at("folder")),
  () => renameSync(at(".aside"), at("folder")),
  () => mkdirSync(at("folder"), { recursive: true }),
];
process.stdout.write("ready\n");
for (;;)
  for (const step of steps) {
    try {
      step();
    } catch {
      // The other side moves things too.
    }
  }
