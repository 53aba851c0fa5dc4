import { Fault } from "../../base/fault.ts";
import type { Guest } from "./guest.ts";
import type { SandboxOptions } from "./options.ts";
import type { Pool } from "./pool.ts";
import { runOn } from "./run.ts";
import type { CallTool, ExecuteResult, Language } from "./types.ts";

/** In memory, or read from where it lies as it is handed over. */
type HeldText = Uint8Array | { readonly length: number; part(at: number, size: number, into: Uint8Array): Uint8Array };

/** What an interpreter is given before its first cell. */
export interface HoldRequest {
  readonly language: Language;
  /** Texts (UTF-8) that are there as variables. They cannot be overwritten. */
  readonly texts: Readonly<Record<string, HeldText>>;
  /** A first cell. In Python what it defines cannot be overwritten either; in JavaScript it sees to that itself. */
  readonly prelude: string;
  readonly callTool: CallTool;
  readonly signal: AbortSignal;
}

/** An interpreter of its own for one caller, until it is ended. It is never stored. */
export interface Held {
  /** Its time stands still while it waits for `callTool`. `is_alive`: it can run more, with the variables it has. */
  run(code: string, signal: AbortSignal): Promise<Omit<ExecuteResult, "session_id"> & { readonly is_alive: boolean }>;
  end(): void;
}

/** Texts go over in parts, each waited for: no stage between here and the interpreter holds a second copy. */
const PART = 1024 * 1024;

/**
 * Interpreters that are held at once, by whomever. Who holds one may wait for another that holds more: beyond this nobody waits,
 * the next is refused.
 */
const MAX_HELD = 64;

/** Each has its place until its caller ends it. */
export function createHolding(pool: Pool, options: SandboxOptions): (wanted: HoldRequest) => Promise<Held> {
  let count = 0;
  return async (wanted) => {
    if (count >= MAX_HELD)
      throw new Fault("concurrency_limited", `${MAX_HELD} interpreters are held already.`, {
        hint: "Wait until runs have ended, or start fewer at once.",
      });
    count++;
    let isHeld = true;
    const leave = () => {
      if (isHeld) count--;
      isHeld = false;
    };
    try {
      const held = await hold(pool, options, wanted);
      return {
        run: held.run,
        end() {
          leave();
          held.end();
        },
      };
    } catch (error) {
      leave();
      throw error;
    }
  };
}

async function hold(pool: Pool, options: SandboxOptions, wanted: HoldRequest): Promise<Held> {
  const { language, callTool, signal } = wanted;
  const guest = await pool.take(language);
  const never = new AbortController().signal;
  let broken = false;

  async function cell(code: string, cell_signal: AbortSignal, held: { freeze?: true }) {
    if (broken || guest.isGone())
      throw new Fault("limit_exceeded", `The ${language} interpreter ended; its variables are lost.`);
    const request = {
      code,
      language,
      callTool,
      session: { kind: "none" },
      depth: 0,
      timeout_s: options.wall_s,
      signal: cell_signal,
    } as const;
    const how = { stateless: false, reseed: held.freeze === true, cancel: never, held };
    const { result, healthy } = await runOn(guest, request, how, options);
    broken = !healthy;
    return { ...result, is_alive: healthy };
  }

  try {
    for (const [name, text] of Object.entries(wanted.texts)) await put(guest, name, text, signal);
    const { exit_code, stderr } = await cell(wanted.prelude, signal, { freeze: true });
    signal.throwIfAborted();
    if (exit_code !== 0) throw new Fault("internal_error", "The interpreter refused its prelude.", { cause: stderr });
  } catch (error) {
    guest.end();
    throw error;
  }
  return { run: (code, cell_signal) => cell(code, cell_signal, {}), end: () => guest.end() };
}

async function put(guest: Guest, name: string, text: HeldText, signal: AbortSignal): Promise<void> {
  // A part is waited for until the interpreter has it: one place is enough for all.
  const into = Buffer.allocUnsafe(Math.min(PART, text.length));
  for (let at = 0; at === 0 || at < text.length; at += PART) {
    signal.throwIfAborted();
    const bytes = "part" in text ? text.part(at, PART, into) : text.subarray(at, at + PART);
    const answer = await guest.ask({ t: "put", name, at, total: text.length, bytes }).catch(() => undefined);
    if (answer?.t !== "loaded")
      throw new Fault("limit_exceeded", `${name} does not fit into the ${guest.language} interpreter.`, {
        hint: "Use the other language, or raise mcp.sandbox.memory_mb.",
      });
  }
}
