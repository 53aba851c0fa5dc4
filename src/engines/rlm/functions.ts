import * as z from "zod";
import { asFault, Fault } from "../../base/fault.ts";
import { SUB_SYSTEM } from "./prompts.ts";
import type { HostCall } from "./repl.ts";
import { type Finding, type Job, MAX_OUTPUT_TOKENS, type OutlineEntry, type Run } from "./run.ts";
import { stringOf } from "./text.ts";

const MIB = 1024 * 1024;
const prompt = z.string().max(4 * MIB);
const model = z.string().max(200).optional();
const query = z.object({ prompt, model });
/** A batch is one call of code, however many prompts it has; more are asked in several batches. */
const batch = z.object({ prompts: z.array(prompt).max(256), model });
const deeper = z.object({ task: z.string().min(1).max(5000), context: z.string().max(16 * MIB) });
const value = z.object({ value: z.unknown() });
/** Prompts of a batch that are under way at once. */
const AT_ONCE = 64;
const ANSWER_CHARS = MIB;
const OUTLINE_BYTES = 2 * MIB;

interface Deps {
  readonly run: Run;
  readonly job: Job;
  readonly turn: () => number;
  onAnswer(answer: string): void;
  /** A run on another text, one level deeper. */
  analyse(job: Job, signal: AbortSignal): Promise<Finding>;
}

/** What code in a cell can ask of us. A fault goes back to the code as an exception, or into its slot of a batch. */
export function hostFunctions({ run, job, turn, onAnswer, analyse }: Deps): HostCall {
  let outlined: Promise<readonly OutlineEntry[]> | undefined;

  async function ask(text: string, name: string | undefined, signal: AbortSignal): Promise<string> {
    const chosen = name === undefined ? run.sub : run.models.named(name, [run.root, run.sub]);
    const request = {
      system: SUB_SYSTEM,
      messages: [{ role: "user" as const, content: text }],
      max_output_tokens: MAX_OUTPUT_TOKENS,
    };
    const reply = await run.ask(chosen, request, signal);
    run.trace.add({ level: job.level, turn: turn(), kind: "sub_call", model: chosen.name }, text, reply);
    run.progress({ turn: turn(), max_turns: job.max_turns, level: job.level });
    return reply;
  }

  async function askAll(texts: readonly string[], name: string | undefined, signal: AbortSignal): Promise<unknown[]> {
    const slots: unknown[] = new Array(texts.length);
    let next = 0;
    const worker = async () => {
      for (let index = next++; index < texts.length; index = next++)
        slots[index] = await ask(texts[index]!, name, signal).catch((error: unknown) => {
          signal.throwIfAborted();
          const { code, message, hint, retryable } = asFault(error);
          return { error: { code, message, hint, retryable } };
        });
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, texts.length) }, worker));
    return slots;
  }

  async function goDeeper(task: string, text: string, signal: AbortSignal): Promise<string> {
    if (job.level >= run.max_depth)
      throw new Fault("limit_exceeded", `Runs may be ${run.max_depth} levels deep.`, { hint: "Use llm_query." });
    const { onPrinted: _, ...above } = job;
    const below = { ...above, task, context: Buffer.from(text), level: job.level + 1 };
    const leave = await run.enterLevel(below.level, signal);
    try {
      return (await analyse(below, signal)).answer;
    } finally {
      leave();
    }
  }

  function outline(signal: AbortSignal): Promise<readonly OutlineEntry[]> {
    if (job.context.length > OUTLINE_BYTES)
      throw new Fault("limit_exceeded", `Only texts up to ${OUTLINE_BYTES} bytes have an outline.`, {
        hint: "Use search.",
      });
    return (outlined ??= run.outline(stringOf(job.context), job.hint, signal).catch((error: unknown) => {
      outlined = undefined;
      throw error;
    }));
  }

  return async (name, args, signal) => {
    switch (name) {
      case "llm_query": {
        const given = checked(query, args, name);
        return ask(given.prompt, given.model, signal);
      }
      case "llm_query_batch": {
        const given = checked(batch, args, name);
        return askAll(given.prompts, given.model, signal);
      }
      case "rlm_query": {
        const given = checked(deeper, args, name);
        return goDeeper(given.task, given.context, signal);
      }
      case "outline":
        return outline(signal);
      case "budget":
        return { ...run.ledger.summary(), calls_left: run.ledger.callsLeft(), turns_left: job.max_turns - turn() };
      case "answer":
        onAnswer(answerText(checked(value, args, name).value));
        return null;
      default:
        throw new Fault("unknown_tool", `There is no function ${name.slice(0, 60)} here.`);
    }
  };
}

function checked<T>(schema: z.ZodType<T>, args: unknown, name: string): T {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Fault("invalid_args", `${name}: ${issue!.path.join(".")} ${issue!.message}`);
}

function answerText(given: unknown): string {
  const text = typeof given === "string" ? given : (JSON.stringify(given) ?? "null");
  if (text.length > ANSWER_CHARS)
    throw new Fault("invalid_args", `An answer has at most ${ANSWER_CHARS} characters.`, { hint: "Answer with less." });
  return text;
}
