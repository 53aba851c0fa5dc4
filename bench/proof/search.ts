import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { type Contender, open, type Session } from "../lib/contender.ts";
import { median } from "../lib/servers.ts";
import type { NextStep } from "../peers/types.ts";

export interface SearchRow {
  readonly name: string;
  readonly ms: Readonly<Record<string, number | undefined>>;
  readonly tokens: Readonly<Record<string, number | undefined>>;
}

const WORDS =
  "const return value index buffer stream reader await async handle error result length offset signal".split(" ");
const QUERIES = [
  ["rare literal", "zanzibar_marker"],
  ["common literal, page of 100", "buffer"],
] as const;

/** 25,000 files, 300 MB, one of them with the rare word. */
function writeTree(root: string, files: number): void {
  mkdirSync(join(root, ".git"));
  let random = 7;
  const word = () => WORDS[(random = (random * 1_103_515_245 + 12_345) & 0x7fffffff) % WORDS.length]!;
  const blocks = Array.from({ length: 16 }, () =>
    Array.from({ length: 200 }, () => Array.from({ length: 9 }, word).join(" ")).join("\n"),
  );
  for (let n = 0; n < files; n++) {
    const folder = join(root, `package-${n % 250}`);
    if (n < 250) mkdirSync(folder);
    const rare = n === Math.floor(files / 2) ? "\nzanzibar_marker\n" : "";
    writeFileSync(join(folder, `module-${n}.ts`), `${blocks[n % 16]}${rare}\n`);
  }
}

/** Until the answer is there: a server that answers before it is done is asked again at once. */
async function timed(session: Session, [first, next]: readonly NextStep[]): Promise<{ ms: number; text: string }> {
  const from = performance.now();
  let { text } = await session.call(first as Exclude<NextStep, (answers: string) => unknown>);
  for (let tries = 0; typeof next === "function" && tries < 1000; tries++) {
    const step = next(text);
    if (!step) break;
    await setTimeout(20);
    text = (await session.call(step)).text;
  }
  return { ms: performance.now() - from, text };
}

export async function measureSearch(
  contenders: readonly Contender[],
  files: number,
  rounds: number,
  wrap: readonly string[],
): Promise<SearchRow[]> {
  const root = mkdtempSync(join(tmpdir(), "llmc-search-"));
  const able = contenders.filter((each) => each.operations(root).searchPage);
  const sessions: Session[] = [];
  try {
    writeTree(root, files);
    for (const contender of able) sessions.push(await open(contender, root, wrap));
    const rows: SearchRow[] = [];
    for (const [name, text] of QUERIES) {
      const ms: Record<string, number | undefined> = {};
      const tokens: Record<string, number | undefined> = {};
      const times = able.map((): number[] => []);
      for (let round = 0; round < rounds + 1; round++)
        for (const [index, session] of sessions.entries()) {
          const found = await timed(session, session.operations.searchPage!(text, 100));
          if (round > 0) times[index]!.push(found.ms);
          tokens[able[index]!.name] = countTokens(found.text);
        }
      for (const [index, { name: who }] of able.entries()) ms[who] = median(times[index]!);
      rows.push({ name, ms, tokens });
    }
    return rows;
  } finally {
    for (const session of sessions) await session[Symbol.asyncDispose]();
    rmSync(root, { recursive: true, force: true });
  }
}
