import type { AllowedCommand } from "../../base/command.ts";
import { Fault } from "../../base/fault.ts";
import { unguessableId } from "../../base/ids.ts";
import type { Principal } from "../../base/principal.ts";
import type { SessionFacts } from "./environment.ts";
import { type Launched, type LaunchFacts, launch } from "./launch.ts";
import type { Networks } from "./network.ts";
import { createRing, type Ring } from "./ring.ts";
import { signalGroup } from "./signals.ts";
import { inTerminal } from "./terminal.ts";

export type ProcessState = "running" | "exited";

export interface ProcessOutput {
  readonly output: string;
  readonly cursor: number;
  readonly state: ProcessState;
  readonly exit_code?: number;
  /** Bytes that were overwritten before anybody read them. */
  readonly dropped?: number;
}

export interface StartRequest {
  readonly pty: boolean;
  readonly wait_for?: string | undefined;
  readonly wait_s: number;
  readonly session?: SessionFacts | undefined;
  readonly signal: AbortSignal;
}

export interface ReadRequest {
  /** Where to go on; undefined: where the last read of this process ended. */
  readonly cursor?: number | undefined;
  readonly wait_for?: string | undefined;
  readonly wait_s: number;
  readonly max_bytes: number;
  readonly signal: AbortSignal;
}

/** Background processes. Each belongs to the principal that started it; to others it does not exist. */
export interface Processes {
  start(
    owner: Principal,
    command: AllowedCommand,
    request: StartRequest,
  ): Promise<ProcessOutput & { proc_id: string; pid: number }>;
  send(owner: Principal, proc_id: string, input: string, signal: AbortSignal): Promise<void>;
  read(owner: Principal, proc_id: string, request: ReadRequest): Promise<ProcessOutput>;
  stop(owner: Principal, proc_id: string, signal: NodeJS.Signals): Promise<{ state: ProcessState; exit_code: number }>;
  /** Live processes of a principal: pid of the first process of each -> proc_id. */
  own(owner: Principal): ReadonlyMap<number, string>;
  close(): Promise<void>;
}

interface Entry {
  readonly id: string;
  readonly owner: Principal;
  readonly launched: Launched;
  readonly ring: Ring;
  readonly listeners: Set<() => void>;
  cursor: number;
  used_at: number;
  exit_code: number | undefined;
  /** When its last words are in, after its end. */
  finished: Promise<number>;
}

interface ProcessFacts {
  readonly launch: LaunchFacts;
  readonly networks: Networks;
  readonly max_per_principal: number;
  readonly idle_timeout_s: number;
}

const BUFFER_BYTES = 1024 * 1024;
const STOP_GRACE_MS = 5000;
const MAX_ENDED_PER_PRINCIPAL = 32;
const SEND_MS = 10_000;

export function createProcesses(facts: ProcessFacts): Processes {
  const entries = new Map<string, Entry>();
  const idle = setInterval(reapIdle, Math.min(30_000, facts.idle_timeout_s * 500));
  idle.unref();

  function find(owner: Principal, id: string): Entry {
    const entry = entries.get(id);
    if (entry?.owner !== owner)
      throw new Fault("session_not_found", `There is no process ${id.slice(0, 60)}.`, {
        hint: "linux_proc_list shows yours.",
      });
    entry.used_at = Date.now();
    return entry;
  }

  function ofOwner(owner: Principal): Entry[] {
    return [...entries.values()].filter((entry) => entry.owner === owner);
  }

  function reapIdle(): void {
    const limit = Date.now() - facts.idle_timeout_s * 1000;
    for (const entry of entries.values()) {
      if (entry.used_at > limit) continue;
      if (entry.exit_code === undefined) void terminate(entry, "SIGTERM");
      else entries.delete(entry.id);
    }
  }

  /** Room for one more: the oldest ended ones go first. */
  function makeRoom(owner: Principal): void {
    const own = ofOwner(owner);
    if (own.filter((entry) => entry.exit_code === undefined).length >= facts.max_per_principal)
      throw new Fault("limit_exceeded", `You already have ${facts.max_per_principal} processes running.`, {
        hint: "Stop one with linux_proc_stop.",
        rule: "proc_max",
      });
    const ended = own.filter((entry) => entry.exit_code !== undefined);
    for (const entry of ended.slice(0, Math.max(0, ended.length - MAX_ENDED_PER_PRINCIPAL + 1)))
      entries.delete(entry.id);
  }

  return {
    async start(owner, command, request) {
      makeRoom(owner);
      const isNetworked = command.level === "bwrap";
      const network = isNetworked ? await facts.networks.hold(owner) : undefined;
      const release = () => network && facts.networks.release(owner);
      try {
        const launched = await launch(facts.launch, command, {
          stdio: ["pipe", "pipe", "pipe"],
          session: request.session,
          network,
          ...(request.pty ? { wrap: inTerminal } : {}),
        });
        const entry = adopt(owner, launched);
        entries.set(entry.id, entry);
        void launched.ended.then(release);
        const first = await output(entry, { ...request, max_bytes: 32_768 });
        return { proc_id: entry.id, pid: launched.pid, ...first };
      } catch (error) {
        release();
        throw error;
      }
    },
    async send(owner, proc_id, input, signal) {
      const { launched, exit_code } = find(owner, proc_id);
      const stdin = launched.child.stdin!;
      if (exit_code !== undefined || !stdin.writable)
        throw new Fault("resource_busy", "The process no longer reads input.", { retryable: false });
      await written(stdin, input, signal);
    },
    async read(owner, proc_id, request) {
      return output(find(owner, proc_id), request);
    },
    async stop(owner, proc_id, signal) {
      const entry = find(owner, proc_id);
      return { state: "exited", exit_code: await terminate(entry, signal) };
    },
    own(owner) {
      return new Map(
        ofOwner(owner)
          .filter((entry) => entry.exit_code === undefined)
          .map((entry) => [entry.launched.pid, entry.id]),
      );
    },
    async close() {
      clearInterval(idle);
      await Promise.all([...entries.values()].map((entry) => terminate(entry, "SIGTERM", 1000)));
      entries.clear();
      facts.networks.close();
    },
  };
}

function adopt(owner: Principal, launched: Launched): Entry {
  const entry: Entry = {
    id: unguessableId("proc"),
    owner,
    launched,
    ring: createRing(BUFFER_BYTES),
    listeners: new Set(),
    cursor: 0,
    used_at: Date.now(),
    exit_code: undefined,
    finished: Promise.resolve(0),
  };
  const tell = () => {
    for (const listener of entry.listeners) listener();
  };
  const streams = [launched.child.stdout!, launched.child.stderr!];
  launched.child.stdin?.on("error", () => {});
  const closed = streams.map((stream) => {
    stream.on("data", (chunk: Buffer) => {
      entry.ring.push(chunk);
      tell();
    });
    stream.on("error", () => {});
    return new Promise<void>((resolve) => stream.once("close", resolve));
  });
  entry.finished = launched.ended.then(async ({ exit_code }) => {
    // The last words may still be in the pipe; a child that escaped its group could hold it open for ever.
    await Promise.race([Promise.all(closed), new Promise((resolve) => setTimeout(resolve, 300).unref())]);
    for (const stream of streams) stream.destroy();
    entry.exit_code = exit_code;
    tell();
    return exit_code;
  });
  return entry;
}

type Wanted = Pick<ReadRequest, "cursor" | "wait_for" | "wait_s" | "max_bytes" | "signal">;

/** Waits for the text, for anything new when no text is named, for the end or the time, and gives what is there. */
async function output(entry: Entry, wanted: Wanted): Promise<ProcessOutput> {
  const from = wanted.cursor ?? entry.cursor;
  const isThere = finder(entry, from, wanted.wait_for ?? "");
  await until(entry, isThere, wanted.wait_s, wanted.signal);
  const isOver = entry.exit_code !== undefined;
  const { text, next, dropped } = entry.ring.read(from, wanted.max_bytes, isOver);
  entry.cursor = next;
  return {
    output: text,
    cursor: next,
    state: isOver ? "exited" : "running",
    ...(isOver ? { exit_code: entry.exit_code! } : {}),
    ...(dropped > 0 ? { dropped } : {}),
  };
}

/** Looks for the text, each time only in what is new; for anything at all when there is no text. */
function finder(entry: Entry, from: number, text: string): () => boolean {
  let seen = from;
  return () => {
    if (entry.exit_code !== undefined) return true;
    if (text === "") return entry.ring.end > from;
    const isFound = entry.ring.includes(text, Math.max(from, seen - Buffer.byteLength(text)));
    seen = entry.ring.end;
    return isFound;
  };
}

function until(entry: Entry, isThere: () => boolean, wait_s: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (isThere() || wait_s <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = (finish: () => void) => {
      clearTimeout(timer);
      entry.listeners.delete(look);
      signal.removeEventListener("abort", abort);
      finish();
    };
    const look = () => {
      if (isThere()) end(resolve);
    };
    const abort = () => end(() => reject(signal.reason));
    const timer = setTimeout(() => end(resolve), wait_s * 1000);
    entry.listeners.add(look);
    signal.addEventListener("abort", abort, { once: true });
  });
}

async function terminate(entry: Entry, signal: NodeJS.Signals, grace_ms = STOP_GRACE_MS): Promise<number> {
  const { launched } = entry;
  if (entry.exit_code !== undefined) return entry.exit_code;
  signalGroup(launched.pid, launched.in_sandbox, signal);
  const last = setTimeout(() => signalGroup(launched.pid, launched.in_sandbox, "SIGKILL"), grace_ms);
  await launched.ended;
  clearTimeout(last);
  return entry.finished;
}

function written(stdin: NodeJS.WritableStream, input: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (finish: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      finish();
    };
    const abort = () => end(() => reject(signal.reason));
    const timer = setTimeout(
      () => end(() => reject(new Fault("resource_busy", "The process does not read its input."))),
      SEND_MS,
    );
    signal.addEventListener("abort", abort, { once: true });
    stdin.write(input, (error) =>
      end(() =>
        error
          ? reject(new Fault("resource_busy", "The process no longer reads input.", { retryable: false }))
          : resolve(),
      ),
    );
  });
}
