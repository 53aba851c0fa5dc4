import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { Fault } from "../../base/fault.ts";
import type { AllowedModel } from "../../base/model.ts";
import { ModelFailure } from "./model/failure.ts";
import type { Ask, ChatRequest } from "./model/types.ts";
import { partOf, type Text } from "./text.ts";

const count = z.int().min(0);
const head = z.object({
  version: z.literal(1),
  session_id: z.string(),
  task: z.string(),
  model: z.string(),
  context_sha256: z.string(),
  path: z.string().optional(),
  hint: z.string(),
  budget_usd: z.number(),
  max_turns: z.int(),
});
const entry = z.object({
  hash: z.string(),
  reply: z
    .object({
      text: z.string(),
      usage: z
        .object({ input_tokens: count, cached_tokens: count, output_tokens: count, reasoning_tokens: count })
        .optional(),
    })
    .optional(),
  failure: z
    .object({
      kind: z.enum([
        "rate_limit",
        "server",
        "network",
        "auth",
        "bad_request",
        "not_found",
        "malformed",
        "not_recorded",
      ]),
      status: z.int().optional(),
      retry_after_s: z.number().optional(),
      billed: z.boolean(),
      said: z.string().optional(),
    })
    .optional(),
});

export type RecordingHead = z.output<typeof head>;

const PART = 1024 * 1024;

/** A part at a time: a text in a file is not brought into memory for it. */
export function textHash(text: Text): string {
  const hash = createHash("sha256");
  const into = Buffer.allocUnsafe(PART);
  for (let at = 0; at < text.length; at += PART) hash.update(partOf(text, at, PART, into));
  return hash.digest("hex");
}

function sha256(data: string): string {
  return createHash("sha256").update(data).digest("hex");
}

/** The same question to the same model has the same hash, wherever its server stands. */
function hashOf(model: AllowedModel, { system, messages, max_output_tokens }: ChatRequest): string {
  return sha256(JSON.stringify([model.name, system, messages, max_output_tokens]));
}

/** Writes down every attempt: the hash of what was asked, and what came back. Readable by the owner alone. */
export function recording(ask: Ask, folder: string, about: RecordingHead): Ask {
  const file = join(folder, `${about.session_id}.jsonl`);
  const write = (line: unknown) => appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    write(about);
  } catch (cause) {
    throw new Fault("write_failed", "The run cannot be recorded, so it was not started.", {
      cause,
      hint: "rlm.replay_dir must be a folder that the server may write to.",
    });
  }
  return async (model, request, signal) => {
    const hash = hashOf(model, request);
    try {
      const reply = await ask(model, request, signal);
      write({ hash, reply });
      return reply;
    } catch (error) {
      if (error instanceof ModelFailure) write({ hash, failure: error.facts });
      throw error;
    }
  };
}

export interface Recording {
  readonly about: RecordingHead;
  /** Answers from the recording, equal questions in the order of the recording. It has no way to the network. */
  readonly ask: Ask;
}

export function openRecording(file: string): Recording {
  const [first, ...rest] = linesOf(file);
  const about = head.parse(first);
  const answers = new Map<string, z.output<typeof entry>[]>();
  for (const line of rest) {
    const given = entry.parse(line);
    answers.set(given.hash, [...(answers.get(given.hash) ?? []), given]);
  }
  return {
    about,
    async ask(model, request, signal) {
      signal.throwIfAborted();
      const found = answers.get(hashOf(model, request))?.shift();
      if (found?.reply) {
        const { text, usage } = found.reply;
        return { text, ...(usage ? { usage } : {}) };
      }
      throw new ModelFailure(found?.failure ?? { kind: "not_recorded", billed: false });
    },
  };
}

function linesOf(file: string): unknown[] {
  try {
    const lines = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown);
    head.parse(lines[0]);
    return lines;
  } catch (error) {
    throw new Fault("invalid_args", "This is no recording of a run.", {
      cause: error,
      hint: "Recordings are the .jsonl files in rlm.replay_dir.",
    });
  }
}
