/** Indexes a folder, says when it has begun to store, and ends. */
import { join } from "node:path";
import { createIndexer } from "./indexer.ts";
import { ragOptions } from "./options.ts";

const root = process.argv[2]!;
const state_dir = join(root, ".llmc");
const indexer = createIndexer({
  root,
  state_dir,
  file: join(state_dir, "index.db"),
  guard: { roots: [root], state_dir },
  rag: ragOptions.parse({}),
});
await indexer.sync((at) => process.send?.(at));
indexer.close();
process.disconnect?.();
