import { createApp } from "../app.ts";
import { Fault } from "../base/fault.ts";
import type { Progress, Rag } from "../engines/rag/index.ts";
import type { Invocation, Terminal } from "./command.ts";
import { loadFor } from "./where.ts";

/** Brings the index up to date and says how far it is. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation;
  const app = createApp(loadFor(invocation));
  const cancel = new AbortController();
  process.once("SIGINT", () => cancel.abort());
  try {
    const rag = await app.engines.rag();
    if (flags["dry-run"]) return await dryRun(rag, invocation);
    const began = performance.now();
    const force = flags["force"] === true;
    const bar = createBar(terminal);
    const at = await rag.build({ force, progress: bar.show }, cancel.signal);
    bar.end();
    await report(rag, at, performance.now() - began, invocation);
    if (flags["watch"]) await untilStopped(rag, terminal, cancel.signal);
    return 0;
  } catch (error) {
    if (!cancel.signal.aborted) throw error;
    terminal.err("\nStopped. What was indexed is kept; the next run goes on from here.\n");
    return 130;
  } finally {
    await app.close();
  }
}

async function dryRun(rag: Rag, { terminal, flags }: Invocation): Promise<number> {
  const estimate = await rag.estimate();
  // Measured: one core indexes two to three megabytes of source a second.
  const seconds = Math.max(
    1,
    Math.round(((estimate.bytes / Math.max(1, estimate.files)) * estimate.changed) / 2_000_000),
  );
  if (flags["json"]) terminal.out(`${JSON.stringify({ ...estimate, seconds })}\n`);
  else
    terminal.out(
      `${estimate.files} files, ${megabytes(estimate.bytes)}; ${estimate.changed} to index, about ${seconds} s. Nothing was written.\n`,
    );
  return 0;
}

async function report(rag: Rag, at: Progress, ms: number, { terminal, flags }: Invocation): Promise<void> {
  const stats = await rag.stats();
  if (flags["json"])
    return terminal.out(`${JSON.stringify({ ...stats, bytes: at.bytes, duration_ms: Math.round(ms) })}\n`);
  const languages = Object.entries(stats.languages).slice(0, 5);
  terminal.out(
    `${stats.files} files, ${stats.chunks} chunks, ${stats.symbols} symbols (${languages.map(([name, n]) => `${name} ${n}`).join(", ")})\n` +
      `${megabytes(at.bytes)} read in ${(ms / 1000).toFixed(1)} s\n`,
  );
}

/** Until it is interrupted, or the index cannot be kept in step. */
async function untilStopped(rag: Rag, terminal: Terminal, signal: AbortSignal): Promise<void> {
  if (!(await rag.stats()).watching)
    throw new Fault("invalid_args", "This tree cannot be watched.", {
      hint: "Set rag.watch = true; a tree of more than 10,000 folders is walked instead.",
    });
  terminal.err("Watching. Stop with Ctrl+C.\n");
  await new Promise<void>((resolve) => {
    const alive = setInterval(() => {}, 60_000);
    signal.addEventListener("abort", () => {
      clearInterval(alive);
      resolve();
    });
  });
}

interface Bar {
  show(at: Progress): void;
  end(): void;
}

const WIDTH = 30;

/** One line that is written over, and only where someone looks at it. */
function createBar(terminal: Terminal): Bar {
  let isShown = false;
  return {
    show({ done, total }) {
      if (!terminal.is_tty || total === 0) return;
      isShown = true;
      const full = Math.round((done / total) * WIDTH);
      terminal.err(`\r${"█".repeat(full)}${"░".repeat(WIDTH - full)} ${done}/${total} files`);
    },
    end() {
      if (isShown) terminal.err("\r\u001b[K");
    },
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
