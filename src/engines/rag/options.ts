import * as z from "zod";

export const SCOPES = ["repo", "docs", "both"] as const;
/** Which neighbours an enriched search tells: alike by vectors, near in the graph, both, or what there is. */
export const ENRICH_MODES = ["vector", "graph", "hybrid", "auto"] as const;
export const DIRECTIONS = ["upstream", "downstream", "callers", "callees"] as const;

/** `[rag.embeddings]` */
const ragEmbeddingOptions = z.strictObject({
  provider: z
    .enum(["none", "ollama", "openai", "model2vec"])
    .default("none")
    .describe("Vectors besides words: none, ollama, openai (any compatible endpoint) or model2vec (a folder)."),
  base_url: z
    .string()
    .optional()
    .describe("Where the provider listens. Default: port 11434 of this machine for ollama, 8000 for openai."),
  model: z.string().default("").describe("Its name for ollama and openai; the folder for model2vec."),
  api_key_env: z.string().optional().describe("Variable that holds the key."),
  query_prefix: z.string().default("").describe("Put before every question."),
  doc_prefix: z.string().default("").describe("Put before every chunk."),
  batch: z.int().min(1).max(512).default(32).describe("Chunks sent at once."),
  rrf_weight: z.number().min(0).max(1).default(0.3).describe("What likeness counts against words, which count 1."),
});

/** `[rag]` */
export const ragOptions = z.strictObject({
  exclude: z
    .array(z.string().min(1))
    .default([])
    .describe("Globs, as in .gitignore, that are not indexed, besides .gitignore and .ragignore."),
  max_file_bytes: z
    .int()
    .min(1024)
    .max(64 * 1024 ** 2)
    .default(1024 ** 2)
    .describe("Larger files are not indexed."),
  watch: z.boolean().default(true).describe("Index files when they are saved, once the index is in use."),
  embeddings: ragEmbeddingOptions.prefault({}),
});

/** `[mcp.rag]` */
export const ragSearchOptions = z.strictObject({
  jit_context_enabled: z.boolean().default(true).describe("/invoke_agent answers with what the index knows."),
  default_scope: z.enum(SCOPES).default("repo").describe("Scope of a search that names none: repo, docs or both."),
  top_k: z.int().min(1).max(100).default(3).describe("Snippets that one search may ask for at most."),
  token_budget: z.int().min(50).max(100_000).default(600).describe("Tokens that one search may ask for at most."),
});

export type EmbeddingOptions = z.output<typeof ragEmbeddingOptions>;
export type RagOptions = z.output<typeof ragOptions>;
export type RagSearchOptions = z.output<typeof ragSearchOptions>;
export type Direction = (typeof DIRECTIONS)[number];
export type EnrichMode = (typeof ENRICH_MODES)[number];
export type Scope = (typeof SCOPES)[number];
