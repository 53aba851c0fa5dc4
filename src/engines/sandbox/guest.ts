import type { Printed, ToChild } from "./child/protocol.ts";
import type { Answer, Command, RunOutcome } from "./runtimes/types.ts";
import type { Language } from "./types.ts";

/** How a run came back. Without an outcome it was ended, by us or by its own death. */
export interface Ran extends Printed {
  readonly outcome?: RunOutcome;
  readonly reason?: string;
  /** The state before the run, when its interpreter is gone. */
  readonly image?: Uint8Array;
}

/** The reply to a call of a tool, as JSON. */
export interface CallReply {
  readonly ok: boolean;
  readonly json: string;
}

export type OnCall = (name: string, args_json: string) => Promise<CallReply>;

/** One interpreter in the child. It does one thing at a time. */
export interface Guest {
  readonly language: Language;
  readonly ready: Promise<void>;
  readonly isGone: () => boolean;
  run(command: Command & { t: "run" }, onCall: OnCall, onPeek?: (stdout: string) => void): Promise<Ran>;
  ask(command: Exclude<Command, { t: "run" }>): Promise<Answer>;
  /** Asks the run to end; the interpreter lives on when it can. */
  stop(): void;
  /** Ends the interpreter now. `rescue`: the run that this ends comes back with the state before it. */
  end(rescue?: boolean): void;
  peek(): void;
}

/** The side that hears from the child. */
export interface GuestEnd extends Guest {
  wasReady(): void;
  answered(answer: Answer, printed: Printed, body: Buffer): void;
  called(call: number, name: string, body: Buffer): void;
  peeked(stdout: string): void;
  stopped(): void;
  ended(printed: Printed, reason: string, image?: Uint8Array): void;
}

type WithoutGuest<T> = T extends { guest: number } ? Omit<T, "guest"> : never;

interface GuestDeps {
  send(message: WithoutGuest<ToChild>, body?: Uint8Array): void;
  /** The whole child: when a guest cannot be ended alone. */
  kill(): void;
  gone(): void;
}

/** An interpreter that is to end and does not, within this, takes the whole child with it. */
const END_MS = 450;
/** Looking at an interpreter, storing and loading it runs code of the guest too: it is not waited for without end. */
const ASK_MS = 10_000;

export function createGuest(language: Language, deps: GuestDeps): GuestEnd {
  let gone: string | undefined;
  let running: { resolve(ran: Ran): void; onCall: OnCall; onPeek?: ((stdout: string) => void) | undefined } | undefined;
  let asking: { resolve(answer: Answer): void; reject(error: Error): void; timer: NodeJS.Timeout } | undefined;
  let ending: NodeJS.Timeout | undefined;
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {});

  function end(rescue: boolean): void {
    if (gone !== undefined || ending) return;
    deps.send({ t: "end", rescue });
    // One that runs nothing cannot resist: if its end takes long, the child is busy with others, who must not die for it.
    if (running || asking) ending = setTimeout(deps.kill, END_MS);
  }

  return {
    language,
    ready: ready.promise,
    isGone: () => gone !== undefined,
    run(command, onCall, onPeek) {
      if (gone !== undefined) return Promise.resolve({ stdout: "", stderr: "", reason: gone });
      return new Promise((resolve) => {
        running = { resolve, onCall, onPeek };
        deps.send({ t: "command", command });
      });
    },
    ask(command) {
      if (gone !== undefined) return Promise.reject(new Error(gone));
      return new Promise((resolve, reject) => {
        asking = { resolve, reject, timer: setTimeout(() => end(false), ASK_MS) };
        if (command.t === "load") deps.send({ t: "command", command: { t: "load" } }, command.image);
        else if (command.t === "put") {
          const { bytes, ...part } = command;
          deps.send({ t: "command", command: part }, bytes);
        } else deps.send({ t: "command", command });
      });
    },
    stop: () => deps.send({ t: "stop" }),
    peek: () => deps.send({ t: "peek" }),
    end: (rescue = false) => end(rescue),
    wasReady: () => ready.resolve(),
    answered(answer, printed, body) {
      if (answer.t === "done") {
        const finished = running;
        running = undefined;
        finished?.resolve({ ...printed, outcome: { ...answer, contents: body } });
        return;
      }
      const asked = asking;
      asking = undefined;
      clearTimeout(asked?.timer);
      asked?.resolve(answer.t === "saved" ? { ...answer, image: body } : answer);
    },
    called(call, name, body) {
      const caller = running;
      if (!caller) return;
      void caller.onCall(name, body.toString("utf8")).then(({ ok, json }) => {
        if (running === caller && gone === undefined) deps.send({ t: "reply", call, ok }, Buffer.from(json));
      });
    },
    peeked: (stdout) => running?.onPeek?.(stdout),
    stopped: () => clearTimeout(ending),
    ended(printed, reason, image) {
      if (gone !== undefined) return;
      gone = reason;
      clearTimeout(ending);
      ready.reject(new Error(reason));
      deps.gone();
      running?.resolve({ ...printed, reason, ...(image && image.length > 0 ? { image } : {}) });
      clearTimeout(asking?.timer);
      asking?.reject(new Error(reason));
      running = asking = undefined;
    },
  };
}
