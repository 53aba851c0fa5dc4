import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fc } from "../../../tests/harness/random.ts";
import { createSandboxBed, ME } from "./test-sandbox.ts";

/** Each prints what it found of the programs before it, and leaves something behind for those after it. */
const PIECES = {
  python: [
    "import collections\nprint(collections.Counter('abca').most_common(1))",
    "x = globals().get('x', 0) + 1\nprint('x', x)",
    "import builtins\nprint(getattr(builtins, 'mark', None))\nbuiltins.mark = 'left'",
    "import json, decimal\nprint(json.dumps({'d': str(decimal.Decimal('1.10') * 3)}))",
    "import os\nprint(os.listdir('.'))\nopen('left', 'w').write('x')",
    "class A:\n    seen = []\nA.seen.append(1)\nprint(A.seen, A().__class__.__name__)",
    "print(sorted({3, 1, 2}), {**{'a': 1}, 'b': 2})",
    "import sys\nprint('sqlite3' in sys.modules, len(sys.path))\nimport sqlite3\nsys.path.append('/left')",
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    print(e)",
    "big = [bytes(1000) for _ in range(3000)]\nprint(len(big))",
    "def g():\n    yield from range(3)\nit = g(); next(it)\nprint(list(it))",
    "import re\nprint(re.sub(r'(\\w)', r'<\\1>', 'ab'), hash('a') == hash('a'))",
    "print(undefined_name)",
    "import string; print(f'{3.14159:.2f}', string.digits)",
  ],
  javascript: [
    "globalThis.x = (globalThis.x ?? 0) + 1; console.log('x', x)",
    "console.log(typeof Array.prototype.mark); Array.prototype.mark = 1",
    "const fs = require('fs'); console.log(fs.readdirSync('.')); fs.writeFileSync('left', 'x')",
    "let list = [3, 1, 2].sort(); console.log(list, new Set(list))",
    "class A { static seen = [] } A.seen.push(1); console.log(A.seen.length)",
    "await Promise.all([1, 2].map(async (n) => console.log(n)))",
    "console.log('x'.repeat(20000).length, [...'añ'].length)",
    "function* g() { yield* [1, 2] } console.log([...g()])",
    "console.log(missing)",
    "import dayjs from 'dayjs'; console.log(dayjs('2020-02-03').format('D'))",
    "const keep = Array.from({ length: 30000 }, (_, i) => ({ i })); console.log(keep.length)",
    "try { null.x } catch (e) { console.log(e.name) }",
  ],
} as const;

/** More of them on demand: SANDBOX_PROGRAMS=10000, and then each against an interpreter of its own, which takes a quarter of a second. */
const PROGRAMS = Number(process.env["SANDBOX_PROGRAMS"] ?? 200);
const AGAINST_FRESH = process.env["SANDBOX_PROGRAMS"] === undefined ? 6 : PROGRAMS;

describe.each(["python", "javascript"] as const)("random programs in %s", (language) => {
  it("print the same in a restored interpreter as in a fresh one", async () => {
    await using bed = createSandboxBed({ pool: 1 });
    const fresh = new Map<string, string>();
    const shown = async (code: string) => {
      const { stdout, stderr, exit_code } = await bed.once(code, language);
      return JSON.stringify([stdout, stderr, exit_code]);
    };
    const program = fc.array(fc.constantFrom(...PIECES[language]), { minLength: 1, maxLength: 3 });
    const programs = fc.sample(program, { numRuns: PROGRAMS, seed: 20 }).map((parts) => [...new Set(parts)].join("\n"));
    // A pool of none makes a new interpreter for each.
    await using none = createSandboxBed({ pool: 0 });
    for (const code of [...new Set(programs)].slice(0, AGAINST_FRESH)) {
      const { stdout, stderr, exit_code } = await none.once(code, language);
      fresh.set(code, JSON.stringify([stdout, stderr, exit_code]));
    }
    for (const code of programs) {
      const said = await shown(code);
      expect(said, code).toBe(fresh.get(code) ?? said);
      fresh.set(code, said);
    }
  }, 3_600_000);
});

/** What a session held after each of its calls. */
type History = number[][];

/** An interpreter that died before its state was stored, or that a busy machine had to end, goes back to what was, and the answer says how far. */
function goBack(history: History, told: string): void {
  const back = /that of (\d+) calls ago|(all variables are lost)/.exec(told);
  if (back) history.length = back[2] ? 1 : history.length - Number(back[1]);
}

/** The whole of it is SANDBOX_SESSIONS=200 SANDBOX_CALLS=50. */
it(
  "many sessions with kills and sleeps between their calls never mix, and lose nothing that was stored",
  async () => {
    const sessions = Number(process.env["SANDBOX_SESSIONS"] ?? 4);
    const calls = Number(process.env["SANDBOX_CALLS"] ?? 8);
    await using bed = createSandboxBed({ pool: 1, idle_s: 1 }, undefined, undefined, sessions);
    const random = fc.sample(fc.integer({ min: 0, max: 99 }), { numRuns: sessions * calls, seed: 7 });
    const expected = new Map<string, History>();
    for (let index = 0; index < sessions; index++) {
      const language = index % 2 ? "python" : "javascript";
      const { session_id } = await bed.sandbox.createSession(ME, {
        language,
        session_id: `${language}-${index}`,
        auto_persist_globals: true,
      });
      expected.set(session_id, [[]]);
    }
    for (const [turn, number] of random.entries()) {
      const id = [...expected.keys()][turn % sessions]!;
      const language = id.startsWith("python") ? "python" : "javascript";
      const history = expected.get(id)!;
      const code =
        language === "python"
          ? `log = globals().get("log", [])\nlog.append(${number})\nlog`
          : `var log = globalThis.log ?? []; log.push(${number}); log`;
      const ran = await bed.within(id, code, { language });
      goBack(history, ran.stderr);
      history.push([...history.at(-1)!, number]);
      expect(ran.result, id).toEqual(history.at(-1));
      if (number < 8) {
        const endless = language === "python" ? "log.clear()\nwhile True: pass" : "log.length; for (;;);";
        const stopped = await bed.within(id, endless, { language, timeout_s: 0.2 });
        expect(stopped).toMatchObject({ limit: { name: "time" } });
        // It tells of the state when it took its interpreter with it; else it is one more call that changed nothing.
        if (stopped.limit!.hint.includes("In this session")) goBack(history, stopped.limit!.hint);
        else history.push(history.at(-1)!);
      } else if (number < 14) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        process.kill(-bed.sandbox.pid()!, "SIGKILL");
        await expect.poll(() => bed.sandbox.pid()).toBeUndefined();
      } else if (number < 20) await new Promise((resolve) => setTimeout(resolve, 1500));
    }
    for (const [id, history] of expected) {
      const language = id.startsWith("python") ? "python" : "javascript";
      const last = await bed.within(id, "log", { language });
      goBack(history, last.stderr);
      expect(last.result).toEqual(history.at(-1));
    }
    expect(await bed.sandbox.sessions(ME)).toHaveLength(sessions);
    for (const id of expected.keys()) await bed.sandbox.destroySession(ME, id);
    await expect.poll(() => bed.sandbox.guests()).toBeLessThanOrEqual(4);
    const child = bed.sandbox.pid();
    await bed.sandbox.close();
    if (child !== undefined) expect(() => process.kill(child, 0)).toThrow("ESRCH");
    const left = readdirSync(bed.state_dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(left.map(({ name }) => name).filter((name) => !/\.db(-wal|-shm)?$/.test(name))).toEqual([]);
  },
  3 * 3_600_000,
);
