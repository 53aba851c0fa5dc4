import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { countTokens } from "../core/tokens.ts";
import type { Invocation, Terminal } from "./command.ts";
import { writeDemoProject } from "./demo/project.ts";
import { SCENES, type Shown } from "./demo/scenes.ts";
import { startServer } from "./demo/server.ts";
import { cut } from "./usage/lines.ts";
import { wrapped } from "./wrap.ts";

const COLUMNS = 78;
const ANSWER_LINES = 8;
const READING_MS = 2500;

interface Cost {
  readonly name: string;
  readonly sent: number;
  readonly naive: number | undefined;
}

/** The product in a minute: real servers on a temporary repository. */
export async function run({ terminal, flags }: Invocation): Promise<number> {
  const root = mkdtempSync(join(tmpdir(), "llmc-demo-"));
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  const paint = painter(terminal);
  const servers = [];
  try {
    writeDemoProject(root);
    terminal.out(paint("dim", "A small project in a temporary folder, and two real servers on it.\n"));
    const one = await startServer(root, terminal.env, "hybrid");
    servers.push(one);
    const two = await startServer(root, terminal.env, "hybrid");
    servers.push(two);
    const costs: Cost[] = [];
    for (const [index, scene] of SCENES.entries()) {
      if (stop.signal.aborted) return 130;
      terminal.out(`\n${paint("bold", `${index + 1}  ${scene.title}`)}\n`);
      const shown = await scene.play({ root, one, two });
      costs.push(costOf(scene.name, shown));
      terminal.out(describe(shown, costs.at(-1)!, paint));
      if (terminal.is_tty && !flags["fast"]) await pause(stop.signal);
    }
    terminal.out(`\n${summary(costs, countTokens(await one.surface()))}`);
    return 0;
  } finally {
    await Promise.all(servers.map((server) => server.close()));
    rmSync(root, { recursive: true, force: true });
  }
}

function costOf(name: string, { sent, naive }: Shown): Cost {
  const tokens = (texts: readonly string[]) => texts.reduce((sum, text) => sum + countTokens(text), 0);
  // A naive server sends text inside JSON, line ends escaped.
  return { name, sent: tokens(sent), naive: naive && tokens(naive.map((text) => JSON.stringify(text))) };
}

type Paint = (style: "bold" | "dim" | "green", text: string) => string;

function painter({ is_tty, env }: Terminal): Paint {
  const codes = { bold: 1, dim: 2, green: 32 };
  return (style, text) => (is_tty && !env["NO_COLOR"] ? `\u001b[${codes[style]}m${text}\u001b[0m` : text);
}

function describe({ call, answer, note }: Shown, { sent, naive }: Cost, paint: Paint): string {
  const lines = readable(answer)
    .split("\n")
    .filter((line) => line.trim() !== "")
    .flatMap((line) => wrapped(line, COLUMNS - 3));
  const more = lines.length > ANSWER_LINES ? [paint("dim", `   … ${lines.length - ANSWER_LINES} more lines`)] : [];
  return [
    paint("dim", cut(`   > ${call.replaceAll("\n", " ")}`, COLUMNS)),
    ...lines.slice(0, ANSWER_LINES).map((line) => `   ${line}`),
    ...more,
    `   ${paint("green", `${sent.toLocaleString("en")} tokens.`)}`,
    `   A naive server sends ${naive === undefined ? "" : `${naive.toLocaleString("en")}: `}${note}.`,
    "",
  ].join("\n");
}

/** An error as its sentence; all else as the model gets it. */
function readable(answer: string): string {
  const text = stripVTControlCharacters(answer);
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === "string" ? error : text;
  } catch {
    return text;
  }
}

function summary(costs: readonly Cost[], surface: number): string {
  const row = (name: string, sent: string, naive: string) =>
    `${name.padEnd(24)}${sent.padStart(10)}${naive.padStart(12)}\n`;
  const number = (value: number | undefined) => value?.toLocaleString("en") ?? "–";
  const sum = (pick: (cost: Cost) => number) => costs.reduce((total, cost) => total + pick(cost), 0);
  const [sent, naive] = [sum((cost) => cost.sent), sum((cost) => cost.naive ?? 0)];
  return [
    row("tokens", "llmc", "naive"),
    ...costs.map((cost) => row(cost.name, number(cost.sent), number(cost.naive))),
    row("all answers", number(sent), number(naive)),
    `\n${Math.round(naive / sent)} times less. The tool list and its instructions cost about ${number(surface)}, once.\n`,
    "Yours: llmc init in your repository.\n",
  ].join("");
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, READING_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
