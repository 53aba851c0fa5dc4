import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Contender, type Mode, open, ours } from "../lib/contender.ts";
import { TASKS, type Task, writeTaskProject } from "../lib/tasks.ts";
import { WORK_TASKS, writeWorkProject } from "../lib/work-tasks.ts";
import type { NextStep } from "../peers/types.ts";

export interface TaskRow {
  readonly contender: string;
  readonly definitions: number;
  /** Tokens of each task; undefined: it cannot be done with this server, or was not. */
  readonly tokens: readonly (number | undefined)[];
  readonly done: number;
  readonly total: number;
}

const SETS = [
  { tasks: TASKS, write: writeTaskProject },
  { tasks: WORK_TASKS, write: writeWorkProject },
] as const;

/** Both sets of tasks, each on a project of its own: definitions once, every request, every answer, and whether it was really done. */
export async function playTasks(
  set: 0 | 1,
  contender: Contender,
  stepsOf: (task: Task, session: Awaited<ReturnType<typeof open>>) => readonly NextStep[] | undefined,
  wrap: readonly string[] = [],
): Promise<TaskRow> {
  const { tasks, write } = SETS[set];
  const root = mkdtempSync(join(tmpdir(), "llmc-tasks-"));
  try {
    write(root);
    await using session = await open(contender, root, wrap);
    const tokens: (number | undefined)[] = [];
    let [total, done] = [session.definitions, 0];
    for (const task of tasks) {
      const steps = stepsOf(task, session);
      const played = steps && (await session.play(steps));
      // What was tried is paid for whether it worked or not.
      if (played) total += played.request + played.answer;
      const isDone = played !== undefined && task.done(played.text, root);
      if (isDone) done++;
      tokens.push(isDone ? played.request + played.answer : undefined);
    }
    return { contender: contender.name, definitions: session.definitions, tokens, done, total };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

export const playOurs = (set: 0 | 1, mode: Mode, wrap?: readonly string[]) =>
  playTasks(set, ours(mode), (task) => (mode === "code_execution" ? task.code_execution : task.hybrid), wrap);

export const playTheirs = (set: 0 | 1, contender: Contender, wrap?: readonly string[]) =>
  playTasks(set, contender, (task, session) => task.elsewhere(session.operations), wrap);

export const taskNames = (set: 0 | 1) => SETS[set].tasks.map(({ name }) => name);
