import type { Answer, Command, Language, Put, Quotas } from "../runtimes/types.ts";

/** Said once, before anything else. */
export interface Init {
  readonly t: "init";
  readonly quotas: Quotas;
  readonly wasm: Readonly<Record<Language, string>>;
  /** Files and folders with packages. */
  readonly packages: Readonly<Record<Language, readonly string[]>>;
}

/** A command whose bytes travel as the body. */
export type WithoutBytes = Exclude<Command, { t: "load" | "put" }> | { readonly t: "load" } | Omit<Put, "bytes">;

/** From the server. `load` has its image, `put` its part, `reply` its JSON as body. */
export type ToChild =
  | Init
  | { readonly t: "open"; readonly guest: number; readonly language: Language }
  | { readonly t: "command"; readonly guest: number; readonly command: WithoutBytes }
  | { readonly t: "reply"; readonly guest: number; readonly call: number; readonly ok: boolean }
  | { readonly t: "stop"; readonly guest: number }
  | { readonly t: "peek"; readonly guest: number }
  /** `rescue`: its state before the run is wanted. */
  | { readonly t: "end"; readonly guest: number; readonly rescue: boolean };

/** What the child found when it tried to leave. */
export interface SelfTest {
  readonly reads_outside: boolean;
  readonly writes: boolean;
  readonly spawns: boolean;
  readonly environment: boolean;
  readonly network: boolean;
}

export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

/** From the child. `saved` and `ended` have an image, `done` the contents of changed files, `call` its arguments as body. */
export type FromChild =
  | { readonly t: "hello"; readonly test: SelfTest }
  | { readonly t: "ready"; readonly guest: number }
  | ({ readonly t: "answer"; readonly guest: number; readonly answer: Answer } & Partial<Printed>)
  | { readonly t: "call"; readonly guest: number; readonly call: number; readonly name: string }
  | { readonly t: "peeked"; readonly guest: number; readonly stdout: string }
  /** It runs no more; what it leaves behind comes with `ended`. */
  | { readonly t: "stopped"; readonly guest: number }
  | ({ readonly t: "ended"; readonly guest: number; readonly reason: string } & Printed);
