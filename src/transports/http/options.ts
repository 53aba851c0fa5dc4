import * as z from "zod";

/** `[mcp.server]` */
export const serverOptions = z.strictObject({
  host: z.string().default("127.0.0.1").describe("Address that llmc serve --http listens on."),
  port: z.int().min(0).max(65_535).default(8080).describe("Port; 0 takes a free one and logs it."),
  tls_enabled: z.boolean().default(false).describe("Serve HTTPS with tls_cert and tls_key."),
  tls_cert: z.string().optional().meta({ path: true }).describe("Certificate chain, PEM."),
  tls_key: z.string().optional().meta({ path: true }).describe("Private key, PEM."),
  allowed_hosts: z
    .array(z.string())
    .default([])
    .describe("Host header names accepted besides loopback: what a reverse proxy sends."),
  allowed_origins: z
    .array(z.string())
    .default([])
    .describe("Origins of web pages that may call, besides loopback: https://app.example.org."),
});

const token = z
  .strictObject({
    name: z
      .string()
      .regex(/^[\w.-]{1,64}$/, "a name: letters, digits, . _ -")
      .describe("Who holds it: stands in the audit."),
    token_env: z.string().optional().describe("Environment variable with the token."),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/i, "64 hex digits")
      .optional()
      .describe("Or the token's SHA-256."),
    tools: z.array(z.string()).default(["*"]).describe("Tools it may call; globs."),
  })
  .refine((one) => (one.token_env === undefined) !== (one.sha256 === undefined), {
    message: "give token_env or sha256, one of them",
  });

/** `[mcp.auth]` */
export const authOptions = z.strictObject({
  mode: z
    .enum(["token", "none"])
    .default("token")
    .describe("none needs allow_unauthenticated, and a loopback address."),
  header: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, "a header name")
    .default("X-LLMC-Token")
    .describe("Header with the token; Authorization: Bearer works too."),
  token_env: z
    .string()
    .default("LLMC_MCP_TOKEN")
    .describe("Environment variable with the one token of a simple setup."),
  allow_unauthenticated: z.boolean().default(false).describe("Let callers in without a token, on loopback only."),
  tokens: z
    .array(token)
    .default([])
    .meta({ secret: true })
    .describe("More tokens, each with a name and the tools it may call."),
});

/** What HTTP adds to `[mcp.limits]`. */
export const httpLimitOptions = z.object({
  rate_limit_rps: z.number().positive().default(10).describe("Requests a second of one token."),
  rate_limit_burst: z.int().min(0).default(20).describe("Requests above that rate let through at once."),
  concurrency_per_token: z.int().min(1).default(8).describe("Requests of one token under way at once."),
  max_header_bytes: z.int().min(1024).default(16_384).describe("Largest request head."),
  max_sessions_per_principal: z
    .int()
    .min(1)
    .default(16)
    .describe("Protocol sessions of one caller; the one longest unused goes."),
});

export type ServerOptions = z.output<typeof serverOptions>;
export type AuthOptions = z.output<typeof authOptions>;
export type HttpLimits = z.output<typeof httpLimitOptions> & { readonly max_request_bytes: number };
