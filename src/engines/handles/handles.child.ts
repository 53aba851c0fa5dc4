/** Another process on the same store, for the tests: `<folder> put|job|full|cancel …` */
import { join } from "node:path";
import { createRoots } from "../../base/path/index.ts";
import { mintPrincipal } from "../../base/principal.ts";
import { createHandles, handlesOptions } from "./index.ts";

const [folder = "", deed = ""] = process.argv.slice(2);
const me = mintPrincipal("local", 1000);
const roots = createRoots({ roots: [join(folder, "root")] });
const handles = createHandles(handlesOptions.parse({}), { state_dir: join(folder, "state"), roots });
const keepAlive = setInterval(() => {}, 1000);

if (deed === "put") {
  process.stdout.write(`${await handles.put(me, "from the child\n", { kind: "output" })}\n`);
}

if (deed === "job") {
  const job = await handles.startJob(me, { kind: "job" }, () => {
    process.stdout.write("cancelled\n");
    clearInterval(keepAlive);
  });
  job.progress("half way");
  process.stdout.write(`${job.handle}\n`);
}

if (deed === "half") {
  async function* half() {
    yield Buffer.alloc(3_000_000, "h");
    process.stdout.write("half\n");
    await new Promise(() => {});
  }
  await handles.put(me, half(), { kind: "output" });
}

if (deed === "full") {
  const large = await handles.put(me, Buffer.alloc(8_000_000, "x"), { kind: "output" }).then(
    () => "fits",
    (error) => error.code,
  );
  const small = await handles.put(me, "small", { kind: "output" }).then(
    () => "fits",
    (error) => error.code,
  );
  process.stdout.write(JSON.stringify({ large, small }));
  clearInterval(keepAlive);
}
