/** A hostile neighbour: exchanges a file, and a folder, with links that lead out, as fast as it can. `<inside> <outside>` */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [inside = "", outside = ""] = process.argv.slice(2);
writeFileSync(join(inside, "real.txt"), "harmless marker inside\n");
symlinkSync(join(outside, "secret.txt"), join(inside, "link.txt"));
mkdirSync(join(inside, "real"));
writeFileSync(join(inside, "real", "secret.txt"), "harmless marker inside\n");
symlinkSync(outside, join(inside, "link"));
process.stdout.write("ready\n");

for (;;) {
  for (const [real, link, name] of [
    ["real.txt", "link.txt", "victim.txt"],
    ["real", "link", "victim"],
  ] as const) {
    for (const one of [real, link]) {
      renameSync(join(inside, one), join(inside, name));
      for (let spin = 0; spin < 2000; spin++);
      renameSync(join(inside, name), join(inside, one));
    }
  }
}
