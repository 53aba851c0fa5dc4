import type { FileFact } from "./runtimes/files.ts";
import type { Language, LimitName, Variable } from "./runtimes/types.ts";

export type { FileFact, Language, LimitName, Variable };

export type CodeLanguage = Language | "typescript";

/** Which interpreter a run uses: a new one, one of the caller's by name, or the caller's own of that language. */
export type SessionChoice =
  | { readonly kind: "none" }
  | { readonly kind: "named"; readonly session_id: string }
  | { readonly kind: "default"; readonly key: string };

/** A call that code makes. Throws a Fault. */
export type CallTool = (name: string, args: Record<string, unknown>, signal: AbortSignal) => Promise<unknown>;

export interface ExecuteRequest {
  readonly code: string;
  readonly language: CodeLanguage;
  readonly session: SessionChoice;
  readonly timeout_s?: number | undefined;
  readonly signal: AbortSignal;
  /** How many runs of code this one is inside of. */
  readonly depth: number;
  readonly callTool?: CallTool;
  /** What `tools` lists. */
  readonly tool_names?: readonly string[];
  /** The end of what was printed so far, from time to time. */
  onProgress?(stdout_tail: string): void;
}

export interface ExecuteResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
  readonly result: unknown;
  readonly duration_ms: number;
  readonly memory_bytes: number;
  readonly limit?: { readonly name: LimitName; readonly hint: string };
  readonly files_changed: readonly FileFact[];
  readonly tool_calls: Readonly<Record<string, number>>;
  readonly session_id: string | null;
  /** Contents of changed files, one after the other in the order of `files_changed`, as far as they were small enough. */
  readonly contents: Uint8Array;
}

export interface SessionInfo {
  readonly session_id: string;
  readonly language: Language;
  readonly state: "live" | "hibernated";
  readonly created_at: string;
  readonly last_used_at: string;
  readonly execution_count: number;
  readonly bytes: number;
}

export interface CreateSession {
  readonly language: CodeLanguage;
  readonly session_id?: string | undefined;
  readonly from_session?: string | undefined;
  readonly auto_persist_globals: boolean;
}

export interface CreatedSession {
  readonly session_id: string;
  readonly language: Language;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface WorkspaceInfo {
  readonly session_id: string;
  readonly files: readonly FileFact[];
  readonly variables: readonly Variable[];
  readonly imports: readonly string[];
  readonly quota: { readonly bytes: number; readonly files: number };
}

export interface RuntimeInfo {
  readonly language: CodeLanguage;
  readonly version: string;
  readonly engine: string;
  readonly isolation: Isolation;
  readonly limits: Readonly<Record<string, number>>;
}

export interface PackageInfo {
  readonly name: string;
  readonly version: string | null;
  readonly language: Language;
}

export type Isolation = "process" | "bwrap";
