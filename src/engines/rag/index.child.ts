/** Indexes a folder, says when it has begun to store, and ends. */
import { join } from "node:path";
import { createIndexer } from "./indexer.ts";
import { ragOptions } from "./options.ts";

const root = process.argv[2]!;
const state_dir = join(root, ".llmc");
const rag = ragOptions.parse({});
const indexer = createIndexer({
  root,
  state_dir,
  file: join(state_dir, "index.db"),
  guard: { roots: [root], state_dir },
  rag,
  embed: { options: rag.embeddings, api_key: undefined, egress: { profile: "restricted", allowed_hosts: [] } },
});
await indexer.sync((at) => process.send?.(at));
indexer.close();
process.disconnect?.();
