import type { Terminal } from "../command.ts";

/** What a run says of itself, as it goes: turns, calls, tokens, cost. On a terminal the line of the turn under way is written over. */
export interface View {
  show(message: string): void;
  /** The last line stays. */
  end(): void;
}

const WIDTHS = [18, 12, 16, 12];
const COLUMNS = 80;

export function createView(terminal: Terminal, title: string): View {
  const began = performance.now();
  let turn = "";
  let line = "";
  let cells = "";
  terminal.err(`${title.slice(0, COLUMNS)}\n`);

  const draw = () => {
    line = `  ${cells}${seconds(began)}`.slice(0, COLUMNS - 1);
    if (terminal.is_tty) terminal.err(`\r\u001b[K${line}`);
  };
  // A model may think for minutes: the time goes on, so that nobody takes it for dead.
  const clock = terminal.is_tty ? setInterval(() => line !== "" && draw(), 1000).unref() : undefined;
  const keep = () => {
    if (line !== "") terminal.err(terminal.is_tty ? "\n" : `${line}\n`);
    line = "";
  };
  return {
    show(message) {
      const columns = message.split(", ");
      if (columns[0] !== turn) keep();
      turn = columns[0]!;
      cells = columns.map((column, index) => column.padEnd(WIDTHS[index] ?? 0)).join("");
      draw();
    },
    end() {
      clearInterval(clock);
      keep();
    },
  };
}

export function seconds(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}
