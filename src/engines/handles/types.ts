import { Fault } from "../../base/fault.ts";
import type { Pinned } from "../../base/path/index.ts";
import type { Principal } from "../../base/principal.ts";

export type HandleState = "running" | "done" | "failed" | "cancelled" | "interrupted";

/** What a result is: `file_content`, `fs_list`, `search_hits`, `output`, `job` …, with the path or root it came from. */
export interface HandleMeta {
  readonly kind: string;
  readonly path?: string;
  readonly root?: string;
}

export interface HandleInfo extends HandleMeta {
  readonly handle: string;
  readonly state: HandleState;
  readonly progress: string | null;
  readonly bytes: number;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface LinePage {
  readonly content: string;
  readonly meta: {
    readonly kind: string;
    readonly state: HandleState;
    readonly progress: string | null;
    readonly total_lines: number;
    /** A large file kept by reference is counted only as far as it was read. */
    readonly total_lines_is_lower_bound?: true;
    /** There is more after this page. */
    readonly truncated: boolean;
    /** The page was full before `max_lines` were: where the next one begins. */
    readonly next_offset_lines?: number;
    /** The page's one line is longer than a page: the rest of it is reached by chunk. */
    readonly line_cut?: true;
  };
}

export interface BytePage {
  readonly bytes: Uint8Array;
  readonly total_bytes: number;
  readonly info: HandleInfo;
}

export type Payload = string | Uint8Array | AsyncIterable<Uint8Array>;

/** A result that is still being made. Exactly one of `done` and `failed` ends it. */
export interface Job {
  readonly handle: string;
  /** The last one wins; never waits. */
  progress(text: string): void;
  done(payload: Payload): Promise<void>;
  failed(fault: Fault): Promise<void>;
}

/** Results too big or too late. A handle is only ever seen by the principal that owns it; to others it does not exist. */
export interface Handles {
  put(owner: Principal, payload: Payload, meta: HandleMeta): Promise<string>;
  /** Small files by value, large ones by reference: those expire when the file changes. */
  putFile(owner: Principal, file: Pinned, meta: HandleMeta): Promise<string>;
  info(owner: Principal, handle: string): Promise<HandleInfo>;
  /** The newest first. */
  list(owner: Principal, max: number): Promise<HandleInfo[]>;
  /** Lines end at \n only and keep their endings: slices joined are the payload. */
  readLines(
    owner: Principal,
    handle: string,
    offset_lines: number,
    max_lines: number,
    signal?: AbortSignal,
  ): Promise<LinePage>;
  /** Pages of a fixed size cut at line ends, counted from 0. */
  readChunk(owner: Principal, handle: string, chunk: number, signal?: AbortSignal): Promise<LinePage>;
  readBytes(owner: Principal, handle: string, offset: number, max_bytes: number): Promise<BytePage>;
  /** `cancel` is called once when someone who may asks for it. */
  startJob(owner: Principal, meta: HandleMeta, cancel: () => void): Promise<Job>;
  /** Resolves when the handle is no longer running, or after `wait_s`, or when the signal aborts. */
  wait(owner: Principal, handle: string, wait_s: number, signal: AbortSignal): Promise<void>;
  /** True when a running job was told to stop. */
  cancel(owner: Principal, handle: string): Promise<boolean>;
  /** Running jobs of this process become `interrupted`. */
  close(): Promise<void>;
}

export function isHandle(path: string): boolean {
  return /^res_[0-9a-z]{16,64}$/.test(path);
}

/** A handle, or none when the store cannot be used: the answer it belongs to must not be lost with it. */
export async function orNoHandle(handle: Promise<string>): Promise<string | null> {
  try {
    return await handle;
  } catch (error) {
    if (error instanceof Fault && error.code === "store_unavailable") return null;
    throw error;
  }
}
