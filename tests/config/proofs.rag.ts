import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bed, createBed } from "../harness/bed.ts";
import { type EmbeddingServer, startEmbeddings } from "../harness/embeddings.ts";
import { startHttp } from "../harness/http.ts";
import { temp } from "../harness/temp.ts";
import { differ, type Proof } from "./proof.ts";

interface Answer {
  readonly snippets: readonly { readonly text: string; readonly src: string }[];
}

const find = (bed: Bed, args: Record<string, unknown>) =>
  bed.payload<Answer>("rag_search", { q: "pear", k: 10, ...args });
const places = async (bed: Bed, args: Record<string, unknown> = {}) =>
  (await find(bed, args)).snippets.map(({ src }) => src.replace(/#.*/, "")).sort();

/** Five files that speak of pears, one of them a document, one long. */
function plant(bed: Bed): void {
  for (const name of ["one", "two", "three"]) bed.write(`${name}.ts`, `export const ${name} = 'pear';\n`);
  bed.write("docs/pear.md", "# Pear\n\nAbout the pear.\n");
  bed.write("long.ts", `export function long() {\n${"  pear();\n".repeat(900)}}\n`);
}

/** Whether /invoke_agent brings context. */
async function hasContext(config: string): Promise<boolean> {
  using folder = temp();
  writeFileSync(join(folder.path, "llmc.toml"), config);
  writeFileSync(join(folder.path, "a.ts"), "export const pear = 1;\n");
  await using server = await startHttp(folder.path);
  const { body } = await server.post("/invoke_agent", { session_id: "s", role: "user", user_msg: "pear" });
  return "context" in body;
}

/** What a search with vectors does, seen by the provider and by the caller, with the line and without it. */
function embedding(
  look: (server: EmbeddingServer, order: readonly string[]) => unknown,
  changed: string,
  base = "",
): Proof {
  return async () => {
    const seen: unknown[] = [];
    for (const line of ["", changed]) {
      await using server = await startEmbeddings();
      const given = new Map(
        [
          "provider = 'ollama'",
          "model = 'm'",
          `base_url = '${server.url}'`,
          ...base.split("\n"),
          line.replace("URL", server.url),
        ]
          .filter((one) => one !== "")
          .map((one) => [one.split(" ")[0]!, one]),
      );
      const config = `[mcp.rag]\ntop_k = 10\n[rag.embeddings]\n${[...given.values()].join("\n")}\n`;
      const files = { "one.ts": "export const car = 1;\n", "two.ts": "export const auto = 'automobile vehicle';\n" };
      await using bed = createBed({ config, files, env: { EMBEDDING_KEY: "k" } });
      await (await bed.app.engines.rag()).build({}, new AbortController().signal);
      const { snippets } = await find(bed, { q: "car" });
      seen.push(
        look(
          server,
          snippets.map(({ src }) => src.replace(/#.*/, "")),
        ),
      );
    }
    return seen as [unknown, unknown];
  };
}

export const RAG_PROOFS: Record<string, Proof> = {
  "rag.exclude": differ(
    (bed) => {
      plant(bed);
      return places(bed);
    },
    "rag.exclude = ['docs/']",
    "[mcp.rag]\ntop_k = 10\n",
  ),
  "rag.max_file_bytes": differ(
    (bed) => {
      plant(bed);
      return places(bed);
    },
    "rag.max_file_bytes = 2048",
    "[mcp.rag]\ntop_k = 10\n",
  ),
  "rag.watch": differ(async (bed) => {
    plant(bed);
    await places(bed);
    return (await bed.payload<{ watching: boolean }>("rag_stats")).watching;
  }, "rag.watch = false"),
  "mcp.rag.jit_context_enabled": async () => [
    await hasContext(""),
    await hasContext("[mcp.rag]\njit_context_enabled = false\n"),
  ],
  "mcp.rag.default_scope": differ((bed) => {
    plant(bed);
    return places(bed);
  }, "mcp.rag.default_scope = 'docs'"),
  "mcp.rag.top_k": differ(async (bed) => {
    plant(bed);
    return (await find(bed, {})).snippets.length;
  }, "mcp.rag.top_k = 2"),
  "mcp.rag.token_budget": differ(async (bed) => {
    plant(bed);
    return (await find(bed, { budget_tokens: 5000 })).snippets.reduce((sum, { text }) => sum + text.length, 0);
  }, "mcp.rag.token_budget = 100"),
  "rag.embeddings.provider": embedding(({ asked }) => asked[0]?.path, "provider = 'openai'"),
  "rag.embeddings.base_url": embedding(({ asked }) => asked[0]?.path, "base_url = 'URL/below'"),
  "rag.embeddings.model": embedding(({ asked }) => asked[0]?.model, "model = 'other'"),
  "rag.embeddings.api_key_env": embedding(({ asked }) => asked[0]?.key, "api_key_env = 'EMBEDDING_KEY'"),
  "rag.embeddings.query_prefix": embedding(({ asked }) => asked.at(-1)?.input, "query_prefix = 'question: '"),
  "rag.embeddings.doc_prefix": embedding(({ asked }) => asked[0]?.input[0]?.slice(0, 5), "doc_prefix = 'text: '"),
  "rag.embeddings.batch": embedding(({ asked }) => asked[0]?.input.length, "batch = 1"),
  "rag.embeddings.rrf_weight": embedding((_server, order) => order, "rrf_weight = 0.0"),
};
