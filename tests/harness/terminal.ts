import { spawn } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { BINARY, plainEnv } from "./cli.ts";

export interface Session extends AsyncDisposable {
  /** What was shown so far, without colours and movements. */
  text(): string;
  /** As it came. */
  raw(): string;
  shows(text: string): Promise<void>;
  press(keys: string): void;
  ended: Promise<number>;
}

/** The built binary in a terminal of its own, as a person meets it. */
export function inTerminal(
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string>; columns?: number },
): Session {
  const line = [BINARY, ...args].map((word) => `'${word}'`).join(" ");
  const size = `stty cols ${options.columns ?? 80} rows 24`;
  const child = spawn("script", ["-qec", `${size}; exec ${line}`, "/dev/null"], {
    cwd: options.cwd,
    env: { ...plainEnv(options.env), TERM: "xterm-256color", SHELL: "/bin/sh" },
  });
  let raw = "";
  const waiting = new Set<() => void>();
  const ended = once(child, "close").then(([code]) => {
    for (const look of waiting) look();
    return code as number;
  });
  let over = false;
  void ended.then(() => (over = true));
  child.stdout.on("data", (chunk: Buffer) => {
    raw += chunk;
    for (const look of waiting) look();
  });
  const text = () => stripVTControlCharacters(raw);
  return {
    text,
    raw: () => raw,
    shows: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (text().includes(wanted)) resolve();
          else if (!over) return;
          else reject(new Error(`never shown: ${wanted}\n${text()}`));
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      }),
    press: (keys) => void child.stdin.write(keys),
    ended,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
