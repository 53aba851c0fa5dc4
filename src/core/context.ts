import type { Roots } from "../base/path/index.ts";
import type { Principal } from "../base/principal.ts";
import type { Envelope } from "../engines/envelope/index.ts";
import type { Exec } from "../engines/exec/index.ts";
import type { Fs } from "../engines/fs/index.ts";
import type { Handles } from "../engines/handles/types.ts";
import type { Rag } from "../engines/rag/index.ts";
import type { Rlm } from "../engines/rlm/index.ts";
import type { Sandbox } from "../engines/sandbox/index.ts";
import type { Search } from "../engines/search/index.ts";
import type { MetricsSnapshot } from "../engines/telemetry/index.ts";

import type { Tool } from "./tool.ts";

export type Via = "stdio" | "http" | "rest" | "cli" | "code";

/** Who a call is made for, as it was told to us; never inferred. */
export interface SessionContext {
  readonly agent_id: string;
  readonly session_id: string;
  readonly model: string;
  readonly budget_profile: string;
}

/** Facts for the audit that only the tool knows. */
export interface AuditFacts {
  readonly rule?: string;
  readonly model?: string;
  readonly cost_usd?: number;
  /** What was read besides the arguments. */
  readonly bytes_read?: number;
}

/** What the server says of itself. */
export interface Health {
  readonly ok: boolean;
  /** Version of the configuration format. */
  readonly version: string;
  readonly server_version: string;
  readonly mode: string;
  /** What project code is shut in by: bwrap, isolated (the operator vouches for the machine), host (he trusts it), none. */
  readonly isolation: string;
  /** What can be left of a command after its end: none, or what escapes a process group. */
  readonly orphans: string;
  /** What the index is doing, or none. */
  readonly index: string;
}

/** The server's own facts that tools may tell. */
export interface ServerFacts {
  readonly instructions: string;
  /** Whether what callers over HTTP ask for may go to a model. */
  readonly may_leave_over_http: boolean;
  /** Every enabled tool: what code may call. */
  tools(): readonly Tool[];
  health(): Promise<Health>;
  metrics(): MetricsSnapshot;
}

/** The engines, each made on first use. Adding an engine adds a line here and one in app.ts. */
export interface Engines {
  envelope(): Promise<Envelope>;
  exec(): Promise<Exec>;
  fs(): Promise<Fs>;
  handles(): Promise<Handles>;
  sandbox(): Promise<Sandbox>;
  rag(): Promise<Rag>;
  rlm(): Promise<Rlm>;
  search(): Promise<Search>;
}

/** What a tool may use while it runs one call. */
export interface ToolContext extends Engines, ServerFacts {
  readonly principal: Principal;
  readonly via: Via;
  /** Where the call came in, when code that a client ran made it. */
  readonly origin: Via;
  readonly correlation_id: string;
  /** 0 for a call from a client, 1 for a call made by code that a client ran, and so on. */
  readonly depth: number;
  readonly session: SessionContext;
  readonly signal: AbortSignal;
  /** The path guard. What is minted through it stands in the audit. */
  readonly roots: Roots;
  /** Makes a call for the code that this call runs: through the same door, one level deeper. The whole payload, or the fault. */
  call(name: string, args: unknown, signal: AbortSignal): Promise<unknown>;
  progress(message: string, done?: number, total?: number): void;
  audit(facts: AuditFacts): void;
}
