/** Does operation after operation and says when each one is done, until it is killed. */
import { readFileSync, writeSync } from "node:fs";
import { applied, nextOp, openFs, perform, type Tree } from "./ops.ts";

const [root, stateFile] = process.argv.slice(2) as [string, string];
const start = JSON.parse(readFileSync(stateFile, "utf8")) as { tree: Tree; number: number; end: number };
const fs = openFs(root);
await fs.settled;
writeSync(1, "ready\n");
let { tree, number } = start;
for (; number < start.end; number++) {
  const op = nextOp(tree, number);
  await perform(root, fs, op);
  tree = applied(tree, op);
  writeSync(1, `${number}\n`);
}
await fs.close();
