import type { FileFact, Files } from "./files.ts";
import { type Bridge, CONTENTS_BYTES, type LimitName, type Quotas, type RunOutcome } from "./types.ts";

interface Ended {
  readonly exit_code: number;
  readonly result: string | null;
  readonly limits: Set<LimitName>;
  readonly memory: WebAssembly.Memory;
}

/** What a run came to, with every limit that it met. */
export function outcome(bridge: Bridge, files: Files, quotas: Quotas, ended: Ended): RunOutcome {
  const { limits, memory } = ended;
  for (const name of bridge.outputLimits()) limits.add(name);
  const refused = files.refused();
  if (refused) limits.add(refused);
  const fits = ended.result === null || Buffer.byteLength(ended.result) <= quotas.result_bytes;
  if (!fits) limits.add("result");
  const changed = files.changed();
  const contents = contentsOf(files, changed);
  files.settle();
  return {
    t: "done",
    exit_code: ended.exit_code,
    result: fits ? ended.result : null,
    memory_bytes: memory.buffer.byteLength,
    limits: [...limits],
    files_changed: changed,
    contents,
  };
}

/** The contents of changed files, as long as they fit; the rest are only named. */
function contentsOf(files: Files, changed: readonly FileFact[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let total = 0;
  for (const { path, bytes } of changed) {
    total += bytes;
    if (total > CONTENTS_BYTES) break;
    const node = files.find(path);
    if (node?.kind === "file") parts.push(node.data.subarray(0, node.size));
  }
  return Buffer.concat(parts);
}
