/** A server of its own that is flooded for some seconds; prints by how many bytes its memory grew. */
import { ME, testExec } from "../../../src/engines/exec/test-exec.ts";
import { createHandles, handlesOptions } from "../../../src/engines/handles/index.ts";

await using test = testExec({ run_cmd_allowlist: ["yes"], policy: { yes: { class: "reader" } } });
const handles = createHandles(handlesOptions.parse({}), { state_dir: test.state_dir, roots: test.roots });
const keep = (output: AsyncIterable<Uint8Array>) => handles.put(ME, output, { kind: "output" });
await test.run(["yes"], { timeout_s: 0.05, max_bytes: 1000, keep });
const before = process.memoryUsage.rss();
let most = before;
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 20);
const { timed_out } = await test.run(["yes"], { timeout_s: Number(process.argv[2]), keep });
clearInterval(watch);
await handles.close();
console.log(JSON.stringify({ timed_out, grew: most - before }));
