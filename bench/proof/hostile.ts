import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { type Contender, open, type Session } from "../lib/contender.ts";
import type { NextStep, Step } from "../peers/types.ts";

export interface Verdict {
  readonly safe: boolean;
  readonly said: string;
}

interface Scene {
  readonly root: string;
  readonly outside: string;
  readonly session: Session;
}

interface Attack {
  readonly name: string;
  /** undefined: this server has no operation to try it with. */
  run(scene: Scene): Promise<Verdict | undefined>;
}

const safe = (said: string): Verdict => ({ safe: true, said });
const bad = (said: string): Verdict => ({ safe: false, said });
const only = (steps: NextStep[] | undefined) => steps?.[0] as Step | undefined;
/** The answer, or that there was none in time. */
async function within(
  session: Session,
  step: Step,
  ms: number,
): Promise<{ text: string; isError: boolean } | "no answer"> {
  const late = new AbortController();
  const timer = setTimeout(ms, "no answer" as const, { ref: false, signal: late.signal }).catch(
    () => "no answer" as const,
  );
  const answered = session
    .call(step, AbortSignal.timeout(ms))
    .catch((error: unknown) => ({ text: String(error), isError: true }));
  const first = await Promise.race([answered, timer]);
  late.abort();
  return first;
}

const ATTACKS: readonly Attack[] = [
  {
    name: "read through a link that leads out",
    async run({ root, outside, session }) {
      symlinkSync(join(outside, "secret"), join(root, "link"));
      const step = only(session.operations.read?.("link"));
      const answer = step && (await within(session, step, 5000));
      if (!answer || answer === "no answer") return undefined;
      return answer.text.includes("SECRET") ? bad("read") : safe("refused");
    },
  },
  {
    name: "write through a dangling link that leads out",
    async run({ root, outside, session }) {
      symlinkSync(join(outside, "planted"), join(root, "dangling"));
      const step = only(session.operations.write?.("dangling", "evil\n"));
      if (!step) return undefined;
      await within(session, step, 5000);
      return existsSync(join(outside, "planted")) ? bad("written outside") : safe("refused");
    },
  },
  {
    name: "read a FIFO, then a file",
    async run({ root, session }) {
      execFileSync("mkfifo", [join(root, "fifo")]);
      writeFileSync(join(root, "plain"), "plain text\n");
      const [fifo, plain] = [only(session.operations.read?.("fifo")), only(session.operations.read?.("plain"))];
      if (!fifo || !plain) return undefined;
      for (let n = 0; n < 5; n++) void within(session, fifo, 4000);
      const first = await within(session, fifo, 3000);
      const after = await within(session, plain, 3000);
      const answers = after !== "no answer" && after.text.includes("plain text");
      if (!answers) return bad("hangs, and all after it");
      return first === "no answer" || /timed? ?out|abort/i.test(first.text) ? bad("hangs") : safe("refused at once");
    },
  },
  {
    name: "50 edits of different lines at once",
    async run({ root, session }) {
      writeFileSync(join(root, "shared.txt"), Array.from({ length: 50 }, (_, n) => `line <${n}> old\n`).join(""));
      const steps = Array.from({ length: 50 }, (_, n) =>
        only(session.operations.replace?.("shared.txt", `<${n}> old`, `<${n}> new`, 1)),
      );
      if (steps.some((step) => !step)) return undefined;
      await Promise.all(steps.map((step) => within(session, step!, 30_000)));
      const kept = readFileSync(join(root, "shared.txt"), "utf8").split("> new").length - 1;
      return kept === 50 ? safe("0 lost") : bad(`${50 - kept} lost`);
    },
  },
  {
    name: "plain `git status` in a repository that names programs",
    async run({ root, outside, session }) {
      const step = only(session.operations.run?.("git status"));
      if (!step) return undefined;
      const payload = join(outside, "payload.sh");
      writeFileSync(payload, `#!/bin/sh\n: > ${outside}/MARKER\n`, { mode: 0o755 });
      rmSync(join(root, ".git"), { recursive: true, force: true });
      execFileSync("git", ["init", "-q", root]);
      appendFileSync(join(root, ".git/config"), `[core]\n\tfsmonitor = ${payload}\n`);
      await within(session, step, 15_000);
      return existsSync(join(outside, "MARKER")) ? bad("program ran") : safe("did not run");
    },
  },
  {
    name: "the server's own environment",
    async run({ session }) {
      const step = only(session.operations.run?.("printenv CANARY"));
      const answer = step && (await within(session, step, 15_000));
      if (!answer || answer === "no answer") return undefined;
      return answer.text.includes("canary-in-the-environment") ? bad("read") : safe("not there");
    },
  },
  {
    name: "a file outside, by a command",
    async run({ outside, session }) {
      const step = only(session.operations.run?.(`cat ${outside}/secret`));
      const answer = step && (await within(session, step, 15_000));
      if (!answer || answer === "no answer") return undefined;
      return answer.text.includes("SECRET") ? bad("read") : safe("refused");
    },
  },
  {
    name: "search in a minified file of 1 MB",
    async run({ root, session }) {
      mkdirSync(join(root, "min"));
      writeFileSync(
        join(root, "min/app.js"),
        `${"var a=1;".repeat(65_000)}minified_needle();${"var b=2;".repeat(65_000)}\n`,
      );
      const step = session.operations.search?.("minified_needle", 0);
      if (!step) return undefined;
      const tokens = countTokens((await session.play(step)).text);
      return tokens < 1000 ? safe(`${tokens} tokens`) : bad(`${tokens.toLocaleString("en-US")} tokens`);
    },
  },
  {
    name: "`$&` in a new text, CRLF, execute bit",
    async run({ root, session }) {
      const path = join(root, "crlf.sh");
      writeFileSync(path, "one\r\ntwo\r\n");
      chmodSync(path, 0o755);
      const step = only(session.operations.replace?.("crlf.sh", "two", "$& and $1", 1));
      if (!step) return undefined;
      await within(session, step, 5000);
      const text = readFileSync(path, "utf8");
      const wrong = [
        ...(text.includes("$& and $1") ? [] : ["text changed"]),
        ...(text.startsWith("one\r\n") && text.endsWith("\r\n") ? [] : ["CRLF lost"]),
        ...((statSync(path).mode & 0o111) === 0 ? ["bit lost"] : []),
      ];
      return wrong.length === 0 ? safe("all kept") : bad(wrong.join(", "));
    },
  },
  {
    name: "a child after the server's kill -9",
    async run({ root, session }) {
      const mark = `wait-${process.pid}-${Math.trunc(performance.now())}.mjs`;
      writeFileSync(join(root, mark), "setTimeout(() => {}, 1e6);\n");
      const step = only(session.operations.run?.(`node ${mark}`));
      if (!step) return undefined;
      void within(session, step, 2500);
      await until(() => withText(mark).length > 0, 3000);
      if (withText(mark).length === 0) return undefined;
      for (const pid of session.pids) process.kill(pid, "SIGKILL");
      await until(() => withText(mark).length === 0, 3000);
      const left = withText(mark);
      for (const pid of left) process.kill(pid, "SIGKILL");
      return left.length === 0 ? safe("none left") : bad("lives on");
    },
  },
];

/** Processes that are ours by the mark in their command line. */
function withText(mark: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "latin1").includes(mark);
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function until(holds: () => boolean, ms: number): Promise<void> {
  for (let waited = 0; waited < ms && !holds(); waited += 50) await setTimeout(50);
}

export interface HostileRow {
  readonly name: string;
  readonly verdicts: Readonly<Record<string, Verdict | undefined>>;
}

/** The same attacks on everyone, each with a server and a project of its own. */
export async function measureHostile(contenders: readonly Contender[], wrap: readonly string[]): Promise<HostileRow[]> {
  const rows: HostileRow[] = [];
  for (const attack of ATTACKS) {
    const verdicts: Record<string, Verdict | undefined> = {};
    for (const contender of contenders) {
      const base = mkdtempSync(join(tmpdir(), "llmc-hostile-"));
      const [root, outside] = [join(base, "root"), join(base, "outside")];
      for (const folder of [root, outside]) mkdirSync(folder);
      mkdirSync(join(root, ".git"));
      writeFileSync(join(outside, "secret"), "SECRET\n");
      const session = await open(contender, root, wrap);
      try {
        verdicts[contender.name] = await attack.run({ root, outside, session });
      } finally {
        // A server that hangs does not end when it is asked to.
        await Promise.race([session[Symbol.asyncDispose](), setTimeout(3000)]).catch(() => {});
        for (const pid of session.pids) kill(pid);
        rmSync(base, { recursive: true, force: true });
      }
    }
    rows.push({ name: attack.name, verdicts });
  }
  return rows;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone by itself.
  }
}
