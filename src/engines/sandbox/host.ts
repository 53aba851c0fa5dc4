import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { Fault } from "../../base/fault.ts";
import type { Assets } from "./assets.ts";
import type { FromChild, Init, Printed, SelfTest, ToChild } from "./child/protocol.ts";
import { createFrameReader, encodeFrame } from "./frames.ts";
import { createGuest, type Guest, type GuestEnd } from "./guest.ts";
import { breach, findBwrap, launch } from "./launch.ts";
import type { Isolation, Language } from "./types.ts";

const HELLO_MS = 15_000;

/** The child process and its guests. It is started when a guest is first asked for, and again when it died. */
export interface Host {
  open(language: Language): Promise<Guest>;
  /** The level reached; starts the child when it does not run. */
  isolation(): Promise<Isolation>;
  /** Those that are there, and those that are waited for. */
  guests(): number;
  /** Ends the child and everything in it. */
  end(): Promise<void>;
  /** For tests and metrics. */
  pid(): number | undefined;
}

interface HostDeps {
  readonly assets: Assets;
  readonly init: Omit<Init, "t">;
  readonly readable: readonly string[];
  readonly require: Isolation;
  readonly path: string;
}

interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  readonly level: Isolation;
  readonly guests: Map<number, GuestEnd>;
  send(message: ToChild, body?: Uint8Array): void;
}

export function createHost(deps: HostDeps): Host {
  let starting: Promise<Child> | undefined;
  let current: Child | undefined;
  let next_guest = 0;
  const { memory_bytes, workspace_bytes } = deps.init.quotas;
  /** The largest thing that a child has to say is the image of a session. */
  const max_frame = memory_bytes + workspace_bytes + 64 * 1024 * 1024;
  let waiting = 0;

  /** Whoever waits for the child counts as a guest: it is not ended under them. */
  async function ensure(): Promise<Child> {
    waiting++;
    try {
      return await (starting ??= start());
    } catch (error) {
      starting = undefined;
      throw error;
    } finally {
      waiting--;
    }
  }

  /** The best level that works. A level that does not hold what it promises is not used. */
  async function start(): Promise<Child> {
    const levels: Isolation[] = findBwrap(deps.path) ? ["bwrap", "process"] : ["process"];
    const problems: string[] = [];
    for (const level of levels) {
      if (level === "process" && deps.require === "bwrap") break;
      try {
        return await startAt(level);
      } catch (error) {
        problems.push(`${level}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    throw new Fault("isolation_required", `Code cannot run here: mcp.sandbox.require asks for ${deps.require}.`, {
      hint: "Install bubblewrap with unprivileged user namespaces, or ask the operator to require less.",
      cause: new Error(problems.join("; ")),
    });
  }

  async function startAt(level: Isolation): Promise<Child> {
    const process_ = launch(level, { child: deps.assets.child, readable: deps.readable, path: deps.path });
    const guests = new Map<number, GuestEnd>();
    const child: Child = {
      process: process_,
      level,
      guests,
      send(message, body) {
        for (const part of encodeFrame(message, body)) process_.stdin.write(part);
      },
    };
    let said = "";
    process_.stderr.on("data", (chunk: Buffer) => (said = (said + chunk).slice(-2000)));
    process_.stdin.on("error", () => {});
    const gone = () => {
      if (current === child) current = starting = undefined;
      for (const guest of [...guests.values()]) guest.ended({ stdout: "", stderr: "" }, "the sandbox process ended");
      guests.clear();
    };
    const hello = new Promise<SelfTest>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("it did not answer")), HELLO_MS);
      process_.once("error", reject);
      process_.once("exit", () => reject(new Error(`it ended at once ${said}`)));
      const read = createFrameReader(max_frame, ({ head, body }) => {
        const message = head as unknown as FromChild;
        if (message.t === "hello") {
          clearTimeout(timer);
          resolve(message.test);
        } else route(guests, message, body);
      });
      process_.stdout.on("data", (chunk: Buffer) => {
        try {
          read(chunk);
        } catch {
          // What does not speak our language is not ours any more.
          process_.kill("SIGKILL");
        }
      });
    });
    process_.on("exit", gone);
    process_.on("error", gone);
    try {
      const problem = breach(level, await hello);
      if (problem) throw new Error(problem);
    } catch (error) {
      process_.kill("SIGKILL");
      throw error;
    }
    child.send({ t: "init", ...deps.init });
    current = child;
    return child;
  }

  return {
    async open(language) {
      const child = await ensure();
      const id = ++next_guest;
      const guest = createGuest(language, {
        send: (message, body) => child.send({ ...message, guest: id } as ToChild, body),
        kill: () => child.process.kill("SIGKILL"),
        gone: () => child.guests.delete(id),
      });
      child.guests.set(id, guest);
      child.send({ t: "open", guest: id, language });
      return guest;
    },
    isolation: async () => (await ensure()).level,
    guests: () => waiting + (current?.guests.size ?? 0),
    async end() {
      const child = await starting?.catch(() => undefined);
      if (!child || child.process.exitCode !== null || child.process.signalCode !== null) return;
      const exited = once(child.process, "exit");
      child.process.kill("SIGKILL");
      await exited;
    },
    pid: () => current?.process.pid,
  };
}

function route(guests: ReadonlyMap<number, GuestEnd>, message: Exclude<FromChild, { t: "hello" }>, body: Buffer): void {
  const guest = guests.get(message.guest);
  if (!guest) return;
  const printed = (from: Partial<Printed>): Printed => ({ stdout: from.stdout ?? "", stderr: from.stderr ?? "" });
  switch (message.t) {
    case "ready":
      return guest.wasReady();
    case "answer":
      return guest.answered(message.answer, printed(message), body);
    case "call":
      return guest.called(message.call, message.name, body);
    case "peeked":
      return guest.peeked(message.stdout);
    case "stopped":
      return guest.stopped();
    case "ended":
      return guest.ended(printed(message), message.reason, body);
  }
}
