import type { FileFact } from "./files.ts";

export type Language = "javascript" | "python";

/** What a guest may use. Made by the server; the child only obeys. */
export interface Quotas {
  readonly memory_bytes: number;
  readonly stdout_bytes: number;
  readonly stderr_bytes: number;
  readonly result_bytes: number;
  readonly workspace_bytes: number;
  readonly workspace_files: number;
}

export type LimitName =
  | "time"
  | "memory"
  | "stdout"
  | "stderr"
  | "result"
  | "disk"
  | "files"
  | "tool_calls"
  | "stack"
  | "cancelled"
  | "crash";

/** What the server asks of a worker, one thing at a time. */
export type Command =
  | {
      readonly t: "run";
      readonly code: string;
      readonly typescript?: boolean;
      /** Names that `tools` shows; calls to others go through and are answered with a fault. */
      readonly tools: readonly string[];
      /** The interpreter is made new after the run. */
      readonly stateless: boolean;
      /** Chance starts anew: the first run in a new interpreter. */
      readonly reseed: boolean;
      /** Held by one caller until it ends: neither made new nor stored after the run. */
      readonly held?: true;
      /** What this run defines cannot be overwritten by later ones. */
      readonly freeze?: true;
    }
  | Put
  | { readonly t: "look" }
  | { readonly t: "save" }
  | { readonly t: "load"; readonly image: Uint8Array };

/** A part of a text that becomes a variable when its last part is there. It cannot be overwritten. */
export interface Put {
  readonly t: "put";
  readonly name: string;
  readonly at: number;
  readonly total: number;
  readonly bytes: Uint8Array;
}

export interface Variable {
  readonly name: string;
  readonly type: string;
}

export interface RunOutcome {
  readonly t: "done";
  readonly exit_code: number;
  /** JSON of the last expression's value, or of its text when JSON cannot say it. */
  readonly result: string | null;
  readonly memory_bytes: number;
  readonly limits: readonly LimitName[];
  readonly files_changed: readonly FileFact[];
  /** Contents of the changed files, one after the other, as far as they are sent. */
  readonly contents: Uint8Array;
  /** The interpreter cannot go on: its state is lost. */
  readonly broken?: true;
  /** The interpreter grew or moved too far to be made new again. */
  readonly retire?: true;
}

export interface Look {
  readonly t: "looked";
  readonly variables: readonly Variable[];
  readonly imports: readonly string[];
  readonly files: readonly FileFact[];
}

export type Answer =
  | RunOutcome
  | Look
  | { readonly t: "saved"; readonly image: Uint8Array }
  | { readonly t: "loaded" }
  | { readonly t: "refused"; readonly reason: string };

/** A reply to a call of a tool, as JSON. */
export interface ToolReply {
  readonly ok: boolean;
  readonly json: string;
}

/** A session's state between two runs, where its keeper finds it when the next run takes the interpreter with it. */
export interface Kept {
  readonly header: Record<string, unknown>;
  readonly memory: SharedArrayBuffer;
  /** Contents of the workspace; absent when they are as before. */
  readonly files?: Uint8Array;
}

/** The worker's side of the bridge, given to a runtime. All of it blocks: a guest has nothing else to do. */
export interface Bridge {
  /** The next thing to do. */
  next(): Command;
  answer(answer: Answer): void;
  keep(kept: Kept): void;
  /** Sends a call and returns its number. */
  call(name: string, args_json: string): number;
  /** Waits for one reply, any reply, at most this long. */
  reply(timeout_ms: number): { readonly call: number; readonly reply: ToolReply } | undefined;
  write(stream: "stdout" | "stderr", bytes: Uint8Array): void;
  /** Limits of output that were met since the last run began. */
  outputLimits(): LimitName[];
  sleep(ms: number): void;
  /** The run is to end now: its time is over or its caller is gone. */
  stopped(): boolean;
}

/** Serves commands until the worker is ended from outside. */
export type Serve = (bridge: Bridge, setup: Setup) => Promise<void>;

export interface Setup {
  readonly module: WebAssembly.Module;
  readonly quotas: Quotas;
  /** Checksum of everything that an image depends on, but the image itself. */
  readonly runtime_id: string;
  /** Packages that the operator and the build provide: name -> contents. */
  readonly packages: ReadonlyMap<string, Uint8Array>;
}

/** Files above this are named and not sent. */
export const CONTENTS_BYTES = 4 * 1024 * 1024;
