import type { Logger } from "pino";
import type { ObservabilityOptions } from "./options.ts";

export type LogLevel = ObservabilityOptions["log_level"];
/** Names, sizes, durations, codes. Never a value from arguments or results. */
export type LogFacts = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, facts?: LogFacts): void;
  info(message: string, facts?: LogFacts): void;
  warn(message: string, facts?: LogFacts): void;
  error(message: string, facts?: LogFacts): void;
  /** Writes what is still waiting. */
  flush(): Promise<void>;
}

const RANK = { debug: 0, info: 1, warn: 2, error: 3 } as const;

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, async flush() {} };

/** Logs on stderr (stdout belongs to the protocol). The library is loaded after the first record, not before the first answer. */
export function createLog(options: { log_format: "json" | "text"; log_level: LogLevel }): Log {
  const waiting: [LogLevel, string, LogFacts][] = [];
  let sink: Promise<Sink> | undefined;
  let ready: Sink | undefined;

  function write(level: LogLevel, message: string, facts: LogFacts = {}): void {
    if (RANK[level] < RANK[options.log_level]) return;
    if (ready) return ready.logger[level](facts, message);
    waiting.push([level, message, facts]);
    (sink ??= load()).catch(() => {});
  }

  async function load(): Promise<Sink> {
    // A turn of the loop later, so that a start answers its client first.
    await new Promise((resolve) => setImmediate(resolve));
    const loaded = await openSink(options);
    for (const [level, message, facts] of waiting.splice(0)) loaded.logger[level](facts, message);
    ready = loaded;
    return loaded;
  }

  return {
    debug: (message, facts) => write("debug", message, facts),
    info: (message, facts) => write("info", message, facts),
    warn: (message, facts) => write("warn", message, facts),
    error: (message, facts) => write("error", message, facts),
    flush: async () => (await sink)?.flush(),
  };
}

interface Sink {
  readonly logger: Logger;
  flush(): void;
}

async function openSink(options: { log_format: "json" | "text"; log_level: LogLevel }): Promise<Sink> {
  const { default: pino } = await import("pino");
  const stderr = pino.destination({ dest: 2, sync: false });
  const settings = {
    level: options.log_level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const stream = options.log_format === "json" ? stderr : { write: (line: string) => void stderr.write(asText(line)) };
  return {
    logger: pino(settings, stream),
    flush: () => {
      try {
        stderr.flushSync();
      } catch {
        // stderr is gone with the client: nobody is left to read it.
      }
    },
  };
}

function asText(line: string): string {
  const { level, time, pid: _pid, msg, ...facts } = JSON.parse(line) as Record<string, unknown>;
  const pairs = Object.entries(facts).map(
    ([key, value]) => ` ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return `${time} ${String(level).toUpperCase().padEnd(5)} ${msg}${pairs.join("")}\n`;
}
