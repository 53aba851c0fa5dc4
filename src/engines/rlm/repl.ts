import { asFault } from "../../base/fault.ts";
import { JAVASCRIPT_PRELUDE } from "./guest/javascript.ts";
import { PYTHON_PRELUDE } from "./guest/python.ts";
import type { Text } from "./text.ts";

export type CellLanguage = "javascript" | "python";
export type HostCall = (name: string, args: Record<string, unknown>, signal: AbortSignal) => Promise<unknown>;

interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly limit?: { readonly name: string; readonly hint: string };
  readonly is_alive: boolean;
}

/** An interpreter that keeps its variables from cell to cell. */
interface Interpreter {
  run(code: string, signal: AbortSignal): Promise<Ran>;
  end(): void;
}

/** What this engine needs of a sandbox: interpreters that hold a text as a variable and call back. */
export interface Repl {
  hold(request: {
    readonly language: CellLanguage;
    readonly texts: Readonly<Record<string, Text>>;
    readonly prelude: string;
    readonly callTool: HostCall;
    readonly signal: AbortSignal;
  }): Promise<Interpreter>;
}

/** The cells of one run: an interpreter for each language, made when it is first used. */
export interface Cells {
  /** What the cell printed, errors included. */
  run(language: CellLanguage, code: string, signal: AbortSignal): Promise<string>;
  end(): void;
}

const PRELUDES: Readonly<Record<CellLanguage, string>> = { javascript: JAVASCRIPT_PRELUDE, python: PYTHON_PRELUDE };

export function createCells(repl: Repl, context: Text, callTool: HostCall): Cells {
  const open = new Map<CellLanguage, Interpreter>();

  async function interpreter(language: CellLanguage, signal: AbortSignal): Promise<Interpreter> {
    const there = open.get(language);
    if (there) return there;
    const made = await repl.hold({ language, texts: { context }, prelude: PRELUDES[language], callTool, signal });
    open.set(language, made);
    return made;
  }

  function drop(language: CellLanguage): void {
    open.get(language)?.end();
    open.delete(language);
  }

  return {
    async run(language, code, signal) {
      try {
        const { stdout, stderr, limit, is_alive } = await (await interpreter(language, signal)).run(code, signal);
        if (!is_alive) drop(language);
        const note = limit ? `[${limit.name}] ${limit.hint}\n` : "";
        return `${stdout}${stderr}${note}${is_alive ? "" : "The variables of earlier cells are lost.\n"}`;
      } catch (error) {
        signal.throwIfAborted();
        const fault = asFault(error);
        if (fault.code === "internal_error") throw error;
        drop(language);
        return `[${fault.code}] ${fault.message} ${fault.hint ?? ""}\n`;
      }
    },
    end() {
      for (const one of open.values()) one.end();
      open.clear();
    },
  };
}
