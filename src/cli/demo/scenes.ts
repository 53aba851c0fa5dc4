import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EDITS, everyFile, SHARED, two } from "./project.ts";
import type { Answer, DemoServer } from "./server.ts";

/** What was asked, what came back, and what a server without these ideas would have sent, from the same bytes. */
export interface Shown {
  readonly call: string;
  readonly answer: string;
  /** Every text that the model got. */
  readonly sent: readonly string[];
  /** undefined: it would have sent nothing, and done harm. */
  readonly naive: readonly string[] | undefined;
  readonly note: string;
}

export interface Stage {
  readonly root: string;
  readonly one: DemoServer;
  /** A second server on the same repository, as a second client starts one. */
  readonly two: DemoServer;
}

export interface Scene {
  readonly name: string;
  readonly title: string;
  play(stage: Stage): Promise<Shown>;
}

export const SCENES: readonly Scene[] = [
  {
    name: "search",
    title: "A search finds the code, not the words",
    async play({ root, one }) {
      const args = { q: "where is the retry delay decided" };
      const answer = await one.call("rag_search", args);
      const lines = everyFile(root).flatMap(({ path, text }) =>
        text.split("\n").flatMap((line, index) => (/retry/i.test(line) ? [`${path}:${index + 1}:${line}`] : [])),
      );
      const note = `${lines.length} lines that hold "retry", as grep finds them`;
      return shown("rag_search", args, answer, [lines.join("\n")], note);
    },
  },
  {
    name: "edit",
    title: "An edit that does not fit refuses, and shows what is there",
    async play({ root, one }) {
      const path = "src/net/retry.ts";
      const args = { path, old_text: "  return Math.min(60_000, exponential);\n", new_text: "  return exponential;\n" };
      const answer = await one.call("linux_fs_edit", args);
      const file = readFileSync(join(root, path), "utf8");
      return shown(
        "linux_fs_edit",
        args,
        answer,
        ["Error: no match", file],
        '"no match", and then the whole file, read again',
      );
    },
  },
  {
    name: "two agents",
    title: `${EDITS} edits of one file by two agents at once: none is lost`,
    play: twoAgents,
  },
  {
    name: "denied",
    title: "A command that would do harm does not run",
    async play({ root, one }) {
      const args = { command: "find . -name '*.ts' -delete" };
      const answer = await one.call("run_cmd", args);
      const doomed = everyFile(root).filter(({ path }) => path.endsWith(".ts"));
      return shown("run_cmd", args, answer, undefined, `nothing, and ${doomed.length} files would be gone`);
    },
  },
  {
    name: "code mode",
    title: "Code reads 24 files; the model reads three lines",
    async play({ root, one }) {
      const code = `const files = (await tools.list_dir({ path: "src/parts" })).data;
const owners = {};
for (const name of files) {
  const { data } = await tools.read_file({ path: "src/parts/" + name });
  for (const [, owner] of data.matchAll(/TODO\\((\\w+)\\)/g)) owners[owner] = (owners[owner] ?? 0) + 1;
}
console.log(Object.entries(owners).map(([owner, n]) => owner + ": " + n + " to do").join("\\n"));`;
      const answer = await one.call("execute_code", { language: "javascript", code });
      const files = everyFile(root).filter(({ path }) => path.startsWith("src/parts/"));
      const call = { language: "javascript", code: `${code.split("\n")[0]} …` };
      return shown(
        "execute_code",
        call,
        answer,
        files.map(({ text }) => text),
        `${files.length} files, read one by one`,
      );
    },
  },
  {
    name: "test log",
    title: "2,000 lines of tests, three failures",
    async play({ root, one }) {
      const args = { command: "node scripts/run-tests.mjs" };
      const answer = await one.call("run_cmd", args);
      const log = outputOf(root, "scripts/run-tests.mjs");
      return shown("run_cmd", args, answer, [log], "the whole log");
    },
  },
];

/** Half of the edits through each server, all at once; then the same by reading, changing and writing the file. */
async function twoAgents({ root, one, two: other }: Stage): Promise<Shown> {
  const path = join(root, SHARED);
  const before = readFileSync(path, "utf8");
  const change = (index: number) => [`LIMIT_${two(index)} = 0;`, `LIMIT_${two(index)} = ${index + 1};`] as const;
  const answers = await Promise.all(
    Array.from({ length: EDITS }, (_, index) => {
      const [old_text, new_text] = change(index);
      return patient(index % 2 === 0 ? one : other, { path: SHARED, old_text, new_text });
    }),
  );
  const kept = made(readFileSync(path, "utf8"));
  writeFileSync(path, before);
  await Promise.all(
    Array.from({ length: EDITS }, async (_, index) => {
      const text = await readFile(path, "utf8");
      await writeFile(path, text.replace(...change(index)));
    }),
  );
  const naively = made(readFileSync(path, "utf8"));
  writeFileSync(path, before);
  return {
    call: `linux_fs_edit ${SHARED}, ${EDITS} times, through two servers`,
    answer: `${kept} of ${EDITS} edits are in the file.`,
    sent: answers.flat(),
    naive: Array.from({ length: EDITS }, () => before),
    note: `the file ${EDITS} times, and keeps ${naively} of ${EDITS} edits`,
  };
}

const TRIES = 50;

/** An edit that finds the file taken for too long is told so, and calls again, as agents do. Every answer counts. */
async function patient(server: DemoServer, args: Record<string, unknown>): Promise<string[]> {
  const texts: string[] = [];
  for (let tries = 0; tries < TRIES; tries++) {
    const { text, isError } = await server.call("linux_fs_edit", args);
    texts.push(text);
    if (!isError || !text.includes('"retryable":true')) break;
  }
  return texts;
}

function made(text: string): number {
  return text.split("\n").filter((line) => / = [1-9]/.test(line)).length;
}

function shown(name: string, args: object, answer: Answer, naive: readonly string[] | undefined, note: string): Shown {
  return { call: `${name} ${JSON.stringify(args)}`, answer: answer.text, sent: [answer.text], naive, note };
}

/** What the program prints, run as a naive server runs it. */
function outputOf(root: string, script: string): string {
  try {
    return execFileSync(process.execPath, [script], { cwd: root, encoding: "utf8" });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
