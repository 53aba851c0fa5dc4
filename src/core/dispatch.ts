import { asFault, Fault } from "../base/fault.ts";
import { createGate } from "../base/gate.ts";
import { correlationId } from "../base/ids.ts";
import type { Roots } from "../base/path/index.ts";
import type { Principal } from "../base/principal.ts";
import { safeJson, visible } from "../base/text.ts";
import type { Telemetry } from "../engines/telemetry/index.ts";
import { bound } from "./bound.ts";
import type { AuditFacts, Engines, ServerFacts, SessionContext, ToolContext, Via } from "./context.ts";
import { cancelled, following, timed } from "./ended.ts";
import { createLateness, HandedOver, type Run } from "./late.ts";
import type { LimitOptions, OutputOptions, SessionOptions } from "./options.ts";
import { type Format, faultPayload, renderPayload } from "./reply.ts";
import { validate } from "./schema.ts";
import { sessionOf } from "./session.ts";
import { charsIn, countTokens, tokensIn } from "./tokens.ts";
import type { Tool } from "./tool.ts";

/** One call, whoever makes it. */
export interface Call {
  readonly name: string;
  readonly args: unknown;
  readonly principal: Principal;
  readonly via: Via;
  readonly signal: AbortSignal;
  /** `model`: the reply is text for a model, bounded. `data`: the whole payload. */
  readonly edge: "model" | "data";
  readonly depth?: number;
  /** How the first call of a chain came in, when this one is made by code. */
  readonly origin?: Via;
  /** Globs of tools that this caller may call; all where absent. */
  readonly tools?: readonly string[];
  readonly correlation_id?: string | undefined;
  readonly session?: Partial<SessionContext>;
  progress?(message: string, done?: number, total?: number): void;
}

export type Reply =
  | { readonly ok: true; readonly correlation_id: string; readonly payload: unknown; readonly text: string }
  | { readonly ok: false; readonly correlation_id: string; readonly fault: Fault; readonly text: string };

export interface DispatchDeps {
  /** Called before the first call. */
  prepare(): void;
  /** By name or alias; undefined when there is none. */
  find(name: string): Tool | undefined;
  /** The rules about who may call what. Throws a Fault. */
  policy(tool: Tool, call: Call): void;
  unknown(name: string): Fault;
  readonly engines: Engines;
  readonly server: ServerFacts;
  readonly roots: Roots;
  readonly telemetry: Telemetry;
  readonly format: Format;
  readonly output: OutputOptions;
  readonly limits: LimitOptions;
  readonly session: SessionOptions;
  readonly read_timeout_s: number;
  readonly include_correlation_id: boolean;
}

export interface Dispatch {
  (call: Call): Promise<Reply>;
  /** Calls under way. */
  readonly busy: () => number;
  /** Ends the jobs that outlived their calls. */
  close(): void;
}

/** stdio queues above this; calls made by code ride on their parent's place. */
const AT_ONCE = 16;

/** The one door: every call comes in here, from every transport and from code in the sandbox. */
export function createDispatch(deps: DispatchDeps): Dispatch {
  const gate = createGate(AT_ONCE);
  const late = createLateness();
  let busy = 0;
  let first = true;

  async function dispatch(call: Call): Promise<Reply> {
    if (first) deps.prepare();
    first = false;
    const seen = observe(deps, call);
    let leave: (() => void) | undefined;
    busy++;
    try {
      if ((call.depth ?? 0) === 0) leave = await gate.enter(call.signal);
      const tool = found(deps, call, seen);
      const { session, args: given } = sessionOf(tool, call, deps.session);
      seen.session = session;
      const args = validate(tool, given);
      deps.policy(tool, call);
      const payload = await run(tool, args, call, seen);
      return seen.replied(payload, await textFor(tool, payload, args, call));
    } catch (thrown) {
      return seen.failed(cancelled(thrown, call.signal) ?? asFault(thrown));
    } finally {
      leave?.();
      busy--;
    }
  }

  function run(tool: Tool, args: Record<string, unknown>, call: Call, seen: Seen): Promise<unknown> {
    const work = (step: Run) =>
      timed(tool, deps.read_timeout_s, step.control, () => tool.run(args, contextOf(deps, call, seen, step, dispatch)));
    if (tool.never_late || call.edge === "data") return untilAnswered(call.signal, work);
    return late.inTime(call.principal, tool.name, call.signal, work, {
      soft_deadline_s: deps.limits.soft_deadline_s,
      max_jobs: deps.limits.max_jobs_per_principal,
      handles: () => deps.engines.handles(),
      render: (payload) => renderPayload(tool, payload, args, deps.format),
    });
  }

  async function textFor(tool: Tool, payload: unknown, args: Record<string, unknown>, call: Call): Promise<string> {
    if (call.edge === "data") return withinBytes(JSON.stringify(payload) ?? "null", deps.limits.max_response_bytes);
    if (payload instanceof HandedOver) return safeJson(payload);
    const bounded = await bound(tool, payload, args, {
      format: deps.format,
      max_tokens: deps.output.max_tokens,
      owner: call.principal,
      handles: () => deps.engines.handles(),
      onStoreFault: (error) =>
        deps.telemetry.log.warn("a result could not be kept behind a handle", { error_code: asFault(error).code }),
    });
    return bounded.text;
  }

  return Object.assign(dispatch, { busy: () => busy, close: () => late.close() });
}

function found(deps: DispatchDeps, call: Call, seen: Seen): Tool {
  const tool = deps.find(call.name);
  if (!tool) throw deps.unknown(call.name);
  seen.tool = tool.name;
  return tool;
}

/** For a call that is never handed over: it ends with its caller. */
function untilAnswered(signal: AbortSignal, work: (run: Run) => Promise<unknown>): Promise<unknown> {
  const { control, letGo } = following(signal);
  return work({ control, job: () => undefined }).finally(letGo);
}

function withinBytes(text: string, max_bytes: number): string {
  if (text.length <= max_bytes / 3 || Buffer.byteLength(text) <= max_bytes) return text;
  throw new Fault("file_too_large", `The result is larger than ${max_bytes} bytes.`, {
    hint: "Ask for less, or raise mcp.limits.max_response_bytes.",
  });
}

function contextOf(
  deps: DispatchDeps,
  call: Call,
  seen: Seen,
  step: Run,
  inner: (call: Call) => Promise<Reply>,
): ToolContext {
  const mint: Roots["mint"] = (path, access, within) => {
    try {
      const minted = deps.roots.mint(path, access, within);
      seen.paths.push(minted.shown);
      return minted;
    } catch (refused) {
      seen.paths.push(visible(path).slice(0, 300));
      throw refused;
    }
  };
  return {
    ...deps.engines,
    ...deps.server,
    principal: call.principal,
    via: call.via,
    origin: call.origin ?? call.via,
    correlation_id: seen.correlation_id,
    depth: call.depth ?? 0,
    session: seen.session!,
    signal: step.control.signal,
    roots: { ...deps.roots, mint },
    progress: (message, done, total) => {
      const job = step.job();
      if (job) job.progress(message);
      else call.progress?.(message, done, total);
    },
    async call(name, args, signal) {
      const { principal, tools } = call;
      const depth = (call.depth ?? 0) + 1;
      const reply = await inner({
        name,
        args,
        principal,
        ...(tools ? { tools } : {}),
        via: "code",
        origin: call.origin ?? call.via,
        signal,
        edge: "data",
        depth,
        session: seen.session!,
      });
      if (!reply.ok) throw reply.fault;
      return reply.payload;
    },
    audit: (facts) => Object.assign(seen.facts, facts),
  };
}

/** What is known of a call, told to telemetry exactly once when it ends. */
interface Seen {
  readonly correlation_id: string;
  readonly paths: string[];
  readonly facts: AuditFacts;
  tool: string;
  session: SessionContext | undefined;
  replied(payload: unknown, text: string): Reply;
  failed(fault: Fault): Reply;
}

function observe(deps: DispatchDeps, call: Call): Seen {
  const started = performance.now();
  const correlation_id = call.correlation_id ?? correlationId();
  const seen: Seen = {
    correlation_id,
    paths: [],
    facts: {},
    tool: "unknown",
    session: undefined,
    replied(payload, text) {
      tell(text, undefined, undefined);
      return { ok: true, correlation_id, payload, text };
    },
    failed(fault) {
      const shown = deps.include_correlation_id ? correlation_id : undefined;
      const text = JSON.stringify(faultPayload(fault, { tool: seen.tool, correlation_id: shown }));
      if (fault.code === "internal_error")
        deps.telemetry.log.error("internal error", { correlation_id, tool: seen.tool, cause: stackOf(fault.cause) });
      tell(text, fault.code, fault.rule);
      return { ok: false, correlation_id, fault, text };
    },
  };

  function tell(text: string, error_code: string | undefined, rule: string | undefined): void {
    deps.telemetry.call({
      time: new Date().toISOString(),
      correlation_id,
      principal: call.principal,
      via: call.via,
      agent_id: seen.session?.agent_id ?? deps.session.default_agent_id,
      session_id: seen.session?.session_id ?? "",
      tool: seen.tool,
      depth: call.depth ?? 0,
      paths: seen.paths,
      rule: rule ?? seen.facts.rule,
      model: seen.facts.model,
      cost_usd: seen.facts.cost_usd,
      bytes_in: charsIn(call.args) + (seen.facts.bytes_read ?? 0),
      bytes_out: text.length,
      duration_ms: performance.now() - started,
      error_code,
      tokens: () => ({ in: tokensIn(call.args), out: countTokens(text) }),
    });
  }
  return seen;
}

/** Where it broke, without the message: a message may quote what was in a file. */
function stackOf(cause: unknown): string {
  if (!(cause instanceof Error)) return typeof cause;
  const frames = (cause.stack ?? "").split("\n").filter((line) => line.trimStart().startsWith("at "));
  return [
    `${cause.name}${"code" in cause ? ` ${String(cause.code)}` : ""}`,
    ...frames.slice(0, 6).map((line) => line.trim()),
  ].join(" | ");
}
