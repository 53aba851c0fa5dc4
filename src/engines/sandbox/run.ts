import { createCalls } from "./calls.ts";
import { createClock } from "./clock.ts";
import type { Guest, Ran } from "./guest.ts";
import { foremost, guidance } from "./limits.ts";
import type { SandboxOptions } from "./options.ts";
import type { ExecuteRequest, ExecuteResult, LimitName } from "./types.ts";

/** After a polite stop an interpreter has this long to come back. */
const STOP_MS = 200;
const PEEK_MS = 2000;

export interface RunHow {
  readonly stateless: boolean;
  readonly reseed: boolean;
  /** Ends the run from elsewhere: cancel_execution. */
  readonly cancel: AbortSignal;
  /** One of many runs of a caller that holds the interpreter. Its time does not run while it waits for its caller's answers. */
  readonly held?: { readonly freeze?: true };
}

export interface RunEnd {
  readonly result: Omit<ExecuteResult, "session_id">;
  /** The interpreter is as it should be, and its state is what the run left. */
  readonly healthy: boolean;
  readonly retire: boolean;
  /** The state before the run, when it could be saved. */
  readonly image: Uint8Array | undefined;
}

/** One run on one interpreter, held to its time from outside. */
export async function runOn(
  guest: Guest,
  request: ExecuteRequest,
  how: RunHow,
  options: SandboxOptions,
): Promise<RunEnd> {
  const seconds = Math.min(request.timeout_s ?? 30, options.wall_s);
  const calls_end = new AbortController();
  const clock = createClock(seconds, () => stop("time"));
  const callTool = how.held && request.callTool ? clock.outside(request.callTool) : request.callTool;
  const calls = createCalls(callTool, options.max_tool_calls, calls_end.signal);
  const timers: NodeJS.Timeout[] = [];
  let forced: LimitName | undefined;

  const stop = (why: LimitName) => {
    if (forced) return;
    forced = why;
    calls_end.abort();
    if (guest.language === "python") return guest.end(!how.stateless);
    guest.stop();
    timers.push(setTimeout(() => guest.end(!how.stateless), STOP_MS));
  };
  const cancelled = () => stop("cancelled");
  const started = performance.now();
  clock.run();
  const { onProgress } = request;
  if (onProgress) timers.push(setInterval(() => guest.peek(), PEEK_MS));
  for (const signal of [request.signal, how.cancel]) {
    signal.addEventListener("abort", cancelled, { once: true });
    if (signal.aborted) cancelled();
  }
  try {
    const ran = await guest.run(
      {
        t: "run",
        code: request.code,
        ...(request.language === "typescript" ? { typescript: true } : {}),
        tools: request.tool_names ?? [],
        stateless: how.stateless,
        reseed: how.reseed,
        ...(how.held ? { held: true, ...how.held } : {}),
      },
      calls.onCall,
      onProgress,
    );
    return ended(ran, performance.now() - started);
  } finally {
    calls_end.abort();
    clock.stop();
    for (const timer of timers) clearTimeout(timer);
    for (const signal of [request.signal, how.cancel]) signal.removeEventListener("abort", cancelled);
  }

  function ended(ran: Ran, duration_ms: number): RunEnd {
    const { outcome } = ran;
    const limits = new Set<LimitName>(outcome?.limits ?? []);
    if (forced) limits.add(forced);
    else if (!outcome) limits.add(/memory/i.test(ran.reason ?? "") ? "memory" : "crash");
    if (calls.isOver()) limits.add("tool_calls");
    const limit = foremost(limits);
    const killed = { time: 124, cancelled: 130 } as Partial<Record<LimitName, number>>;
    return {
      healthy: outcome !== undefined && !outcome.broken,
      retire: outcome?.retire === true,
      image: ran.image,
      result: {
        stdout: ran.stdout.slice(0, options.stdout_bytes),
        stderr: ran.stderr.slice(0, options.stderr_bytes),
        exit_code: (forced && killed[forced]) ?? outcome?.exit_code ?? 137,
        result: outcome?.result == null ? null : (JSON.parse(outcome.result) as unknown),
        duration_ms: Math.round(duration_ms * 100) / 100,
        memory_bytes: outcome?.memory_bytes ?? 0,
        ...(limit ? { limit: { name: limit, hint: guidance(limit, options, seconds) } } : {}),
        files_changed: outcome?.files_changed ?? [],
        tool_calls: { ...calls.counts },
        contents: outcome?.contents ?? new Uint8Array(0),
      },
    };
  }
}
