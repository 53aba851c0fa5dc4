import type { Stats } from "node:fs";
import { Fault } from "../../../base/fault.ts";
import { type Place, place, type Roots, type SafePath } from "../../../base/path/index.ts";
import { type Call, type ChangeDeps, present, readWhole, writePlace } from "../change.ts";
import { applyHunks, type Rejection } from "./apply.ts";
import type { ByteText } from "./parse.ts";
import type { FileTask } from "./plan.ts";

/** New content is held until all of it is known to fit. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** What a task comes to: the file that stands afterwards, the one that goes, or why neither. */
export interface Outcome {
  readonly task: FileTask;
  readonly rejected: readonly Rejection[];
  readonly target?: {
    readonly content: ByteText;
    readonly seen: Stats | undefined;
    readonly executable: boolean | undefined;
    open(roots: Roots): Place;
  };
  readonly source?: { readonly seen: Stats; readonly goes: boolean; open(roots: Roots): Place };
}

/** Tries every task on the files as they are now; changes nothing. */
export async function resolveTasks(deps: ChangeDeps, tasks: readonly FileTask[], call: Call): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let held = 0;
  for (const task of tasks) {
    const outcome = await resolveTask(deps.roots, task, call);
    held += outcome.target?.content.length ?? 0;
    if (held > MAX_HELD_BYTES)
      throw new Fault("file_too_large", `The files of the patch have more than ${MAX_HELD_BYTES} bytes together.`, {
        hint: "Split it.",
      });
    outcomes.push(outcome);
  }
  return outcomes;
}

async function resolveTask(roots: Roots, task: FileTask, call: Call): Promise<Outcome> {
  const refused = task.parts.find((part) => part.refused !== undefined)?.refused;
  if (refused !== undefined) return rejection(task, refused);
  const old = task.source ? await contentOf(roots, task.source, call) : { bytes: Buffer.alloc(0), seen: undefined };
  if (!old) return rejection(task, `${task.source!.shown} does not exist`);
  const isNew = task.target !== undefined && task.target.abs !== task.source?.abs;
  if (isNew && isTaken(roots, task.target!)) return rejection(task, `${task.target!.shown} exists already`);
  let content: ByteText = old.bytes.toString("latin1");
  const rejected: Rejection[] = [];
  for (const part of task.parts) {
    const patched = applyHunks(content, part.hunks);
    content = patched.content;
    rejected.push(...patched.rejected);
  }
  if (rejected.length > 0) return { task, rejected };
  if (task.action === "delete" && content !== "" && task.parts.some((part) => part.hunks.length > 0))
    return rejection(task, "the file holds more than the patch deletes");
  const seen = old.seen;
  return {
    task,
    rejected,
    ...(task.target
      ? {
          target: {
            content,
            seen: isNew ? undefined : seen,
            executable: task.parts.findLast((part) => part.executable !== undefined)?.executable,
            open: (from: Roots) => writePlace(from, task.target!),
          },
        }
      : {}),
    ...(seen && task.source
      ? {
          source: {
            seen,
            goes: task.action === "delete" || task.action === "rename",
            open: (from: Roots) => writePlace(from, task.source!),
          },
        }
      : {}),
  };
}

async function contentOf(
  roots: Roots,
  path: SafePath,
  call: Call,
): Promise<{ bytes: Buffer; seen: Stats | undefined } | undefined> {
  try {
    using here = place(roots, path);
    const seen = present(here);
    return seen && { bytes: await readWhole(here, seen, call.signal), seen };
  } catch (error) {
    if (error instanceof Fault && error.code === "file_not_found") return undefined;
    throw error;
  }
}

function isTaken(roots: Roots, path: SafePath): boolean {
  try {
    using here = place(roots, path);
    return present(here) !== undefined;
  } catch (error) {
    if (error instanceof Fault && error.code === "file_not_found") return false;
    if (error instanceof Fault && error.code === "is_directory") return true;
    throw error;
  }
}

function rejection(task: FileTask, reason: string): Outcome {
  return { task, rejected: [{ hunk: 0, reason }] };
}
