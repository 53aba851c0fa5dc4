import { Fault } from "../base/fault.ts";
import { type Invocation, textFlag } from "./command.ts";
import { sinceOf } from "./trail.ts";
import { callLine, clock, cut, errorLine, headLines, lockLines, sparkline, tableLines } from "./usage/lines.ts";
import { today, type Usage, warnBlind, watchUsage } from "./usage/usage.ts";
import { loadFor } from "./where.ts";

const BOLD = "\u001b[1m";
const DIM = "\u001b[2m";
const PLAIN = "\u001b[0m";
const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const EVERY_MS = 1000;

/** A live view of what agents do. In a pipe, or with --once, one frame. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation;
  const from = textFlag(invocation, "since");
  const loaded = loadFor(invocation);
  warnBlind(loaded, terminal);
  const watching = watchUsage(loaded, from === undefined ? today() : sinceOf(from));
  const size = () => ({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 });
  try {
    if (flags["once"] || !terminal.is_tty) {
      terminal.out(`${frame(await watching.look(), { ...size(), rows: 60 }, false).join("\n")}\n`);
      return 0;
    }
    const inColour = !terminal.env["NO_COLOR"];
    await live(terminal.out, async () => frame(await watching.look(), size(), inColour));
    return 0;
  } finally {
    await watching.close();
  }
}

/** Draws until q, Ctrl-C or a signal. The screen is given back as it was. */
async function live(out: (text: string) => void, draw: () => Promise<string[]>): Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const { stdin, stdout } = process;
  if (!stdin.isTTY)
    throw new Fault("invalid_args", "llmc top reads keys, and this is no terminal.", { hint: "llmc top --once" });
  // Escape alone: an arrow key begins with it too.
  stdin.setRawMode(true).on("data", (keys: Buffer) => {
    if (/^(q|\u0003|\u001b)$/.test(keys.toString())) end();
  });
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(name, end);
  out(ENTER);
  try {
    while (!ended.signal.aborted) {
      const lines = await draw();
      const below = Array<string>(Math.max(0, stdout.rows - lines.length)).fill("");
      // Each line is cleared before it is written: cleared after it, one as wide as the window would lose its last sign.
      out(`\u001b[H${[...lines, ...below].map((line) => `\u001b[K${line}`).join("\r\n")}`);
      await pause(ended.signal, stdout);
    }
  } finally {
    out(LEAVE);
    stdin.setRawMode(false).pause();
  }
}

/** A second, or less when the window changes or someone ends it. */
function pause(signal: AbortSignal, stdout: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      stdout.off("resize", over);
      signal.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, EVERY_MS);
    stdout.on("resize", over);
    signal.addEventListener("abort", over);
  });
}

/** As many lines as there are rows, each no wider than the window. */
export function frame(usage: Usage, { columns, rows }: { columns: number; rows: number }, inColour: boolean): string[] {
  const paint = (style: string, text: string) => (inColour ? `${style}${text}${PLAIN}` : text);
  const heading = (text: string) => paint(BOLD, text);
  const time = clock(new Date().toISOString());
  const title = cut(`llmc top  ${usage.root}`, columns - 10);
  const locks = lockLines(usage, columns, 3);
  const lines = [
    heading(title.padEnd(columns - 8) + time),
    ...headLines(usage).map((line) => cut(line, columns)),
    cut(`last 30 min  ${sparkline(usage.minutes)}  ${usage.minutes.at(-1)} this minute`, columns),
    errorLine(usage, columns),
    "",
  ];
  const left = Math.max(4, rows - lines.length - locks.length - (locks.length > 0 ? 2 : 0) - 3);
  const [header, ...tools] = tableLines("tool", usage.tools, columns, Math.ceil(left / 2) - 1);
  lines.push(paint(DIM, header!), ...tools);
  if (locks.length > 0) lines.push("", paint(DIM, "locks"), ...locks);
  const calls = usage.last.slice(-Math.max(1, rows - lines.length - 3)).reverse();
  lines.push("", paint(DIM, "last calls"), ...calls.map((record) => callLine(record, columns)));
  return lines.slice(0, rows);
}
