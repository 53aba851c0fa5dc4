import { isAscii } from "node:buffer";
import { Fault } from "../../base/fault.ts";
import { codeBlocks } from "./blocks.ts";
import { hostFunctions } from "./functions.ts";
import type { Message } from "./model/types.ts";
import {
  afterTurn,
  type ContextFacts,
  NO_CODE,
  opening,
  PLAIN_SYSTEM,
  plainPrompt,
  SYSTEM,
  shortened,
} from "./prompts.ts";
import { createCells } from "./repl.ts";
import { type Finding, type Job, MAX_OUTPUT_TOKENS, type Run } from "./run.ts";
import { partOf, stringOf } from "./text.ts";

/** A cell that has answered may come to its end by itself. */
const GRACE_MS = 100;

/** One level: the model writes code, the code runs on the text, what it prints goes back, until it answers. */
export async function analyse(run: Run, job: Job, signal: AbortSignal): Promise<Finding> {
  if (job.context.length <= run.small_input_bytes) return inOneCall(run, job, signal);
  let turn = 0;
  let answer: string | undefined;
  let grace: NodeJS.Timeout | undefined;
  const answered = new AbortController();
  const calls = hostFunctions({
    run,
    job,
    turn: () => turn,
    // What a cell does long after its answer is not waited for.
    onAnswer(text) {
      if (answer !== undefined) return;
      answer = text;
      grace = setTimeout(() => answered.abort(), GRACE_MS);
    },
    analyse: (deeper, inner) => analyse(run, deeper, inner),
  });
  const cells = createCells(run.repl, job.context, (name, args, inner) =>
    calls(name, args, AbortSignal.any([inner, signal])),
  );
  const messages: Message[] = [opening(job.task, await factsOf(job), job.max_turns)];

  /** What the cells printed; nothing more once one has answered. */
  async function runBlocks(reply: string): Promise<string | undefined> {
    const blocks = codeBlocks(reply);
    if (blocks.length === 0) return undefined;
    let printed = "";
    for (const { language, code } of blocks) {
      if (answer !== undefined) break;
      const output = await cells
        .run(language, code, AbortSignal.any([signal, answered.signal]))
        .catch((error: unknown) => {
          if (answer === undefined) throw error;
          return "";
        });
      run.trace.add({ level: job.level, turn, kind: "cell" }, code, output);
      printed += output;
    }
    return shortened(printed);
  }

  try {
    while (turn < job.max_turns) {
      turn++;
      run.progress({ turn, max_turns: job.max_turns, level: job.level });
      const reply = await run.ask(
        run.root,
        { system: SYSTEM, messages: [...messages], max_output_tokens: MAX_OUTPUT_TOKENS },
        signal,
      );
      run.trace.add(
        { level: job.level, turn, kind: "root_call", model: run.root.name },
        messages.at(-1)!.content,
        reply,
      );
      run.progress({ turn, max_turns: job.max_turns, level: job.level });
      const printed = await runBlocks(reply);
      if (answer !== undefined) {
        run.trace.add({ level: job.level, turn, kind: "answer" }, "", answer);
        return { answer, stop_reason: "answer", turns: turn };
      }
      if (printed !== undefined && printed !== "") job.onPrinted?.(printed);
      messages.push({ role: "assistant", content: reply });
      messages.push(afterTurn(printed ?? NO_CODE, job.max_turns - turn, run.softWarning()));
    }
  } finally {
    clearTimeout(grace);
    cells.end();
  }
  throw new Fault("limit_exceeded", `No answer after ${job.max_turns} turns.`, {
    hint: "Raise max_turns, or ask for less at once.",
  });
}

/** A text that a model can simply read. */
async function inOneCall(run: Run, job: Job, signal: AbortSignal): Promise<Finding> {
  run.progress({ turn: 1, max_turns: 1, level: job.level });
  const message = plainPrompt(job.task, stringOf(job.context));
  const request = { system: PLAIN_SYSTEM, messages: [message], max_output_tokens: MAX_OUTPUT_TOKENS };
  const answer = await run.ask(run.root, request, signal);
  run.trace.add({ level: job.level, turn: 1, kind: "root_call", model: run.root.name }, message.content, answer);
  return { answer, stop_reason: "small_input", turns: 1 };
}

/** Strings of this size are swept at once; larger ones pile up. */
const SLICE = 64 * 1024;
const TURN_SLICES = 64;
const NEWLINE = 10;

/** Counted on the bytes, a slice at a time: a second copy of a long text would be as large again, and other calls wait meanwhile. */
async function factsOf({ context, hint }: Job): Promise<ContextFacts> {
  let [lines, continued] = [0, 0];
  let last: number | undefined;
  const into = Buffer.allocUnsafe(SLICE);
  for (let from = 0; from < context.length; from += SLICE) {
    const part = partOf(context, from, SLICE, into);
    const slice = Buffer.from(part.buffer, part.byteOffset, part.length);
    const text = slice.toString("latin1");
    last = slice.at(-1);
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
    if (!isAscii(slice)) for (let at = 0; at < slice.length; at++) if ((slice[at]! & 0xc0) === 0x80) continued++;
    if (from % (TURN_SLICES * SLICE) === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  if (last !== undefined && last !== NEWLINE) lines++;
  return { bytes: context.length, characters: context.length - continued, lines, kind: hint === "" ? "text" : hint };
}
