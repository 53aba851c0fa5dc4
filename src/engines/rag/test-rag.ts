import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createRoots } from "../../base/path/index.ts";
import { createRag, type Rag } from "./index.ts";
import { ragOptions, ragSearchOptions } from "./options.ts";

/** A real folder with a real index of it, for tests. */
export interface TestRag extends AsyncDisposable {
  readonly root: string;
  readonly rag: Rag;
  write(path: string, content: string | Uint8Array): void;
  /** The places a search names, best first. */
  find(q: string, more?: Record<string, unknown>): Promise<string[]>;
}

export const SIGNAL = new AbortController().signal;

interface Given {
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly rag?: Record<string, unknown>;
  readonly search?: Record<string, unknown>;
  /** An existing folder; it is not removed. */
  readonly root?: string;
  readonly summarize?: (text: string, signal: AbortSignal) => Promise<{ text: string } | null>;
}

export function openTestRag(given: Given = {}): TestRag {
  const root = given.root ?? realpathSync(mkdtempSync(join(tmpdir(), "llmc-rag-")));
  const state_dir = join(root, ".llmc");
  const write = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  for (const [path, content] of Object.entries(given.files ?? {})) write(path, content);
  const guard = { roots: [root], state_dir };
  const rag = createRag(
    {
      rag: ragOptions.parse({ watch: false, ...given.rag }),
      search: ragSearchOptions.parse({ top_k: 10, token_budget: 4000, ...given.search }),
    },
    {
      ...{ roots: createRoots(guard), guard, state_dir, root, summarize: given.summarize },
      tokens: (text) => Math.ceil(text.length / 2.5),
    },
  );
  return {
    root,
    rag,
    write,
    find: async (q, more = {}) => (await rag.search({ q, k: 10, ...more }, SIGNAL)).snippets.map((one) => one.src),
    async [Symbol.asyncDispose]() {
      await rag.close();
      if (given.root === undefined) rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The same, with all of it indexed: however slow the machine is, nothing is missing. */
export async function openIndexedRag(given: Given = {}): Promise<TestRag> {
  const bed = openTestRag(given);
  await bed.rag.build({}, SIGNAL);
  return bed;
}
