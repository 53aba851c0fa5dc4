import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { serveJavaScript } from "../runtimes/javascript/index.ts";
import { servePython } from "../runtimes/python/index.ts";
import type { Answer, Bridge, Command, Kept, Language, Setup, ToolReply } from "../runtimes/types.ts";
import { type Control, createOutlet } from "./control.ts";

/** What a worker is started with. */
export interface WorkerStart {
  readonly language: Language;
  readonly setup: Setup;
  readonly control: Control;
  readonly port: MessagePort;
}

/** What the keeper sends. */
export type ToWorker =
  | { readonly t: "command"; readonly command: Command }
  | { readonly t: "reply"; readonly call: number; readonly reply: ToolReply };

/** What the worker sends. */
export type FromWorker =
  | { readonly t: "ready" }
  | { readonly t: "answer"; readonly answer: Answer }
  | { readonly t: "kept"; readonly kept: Kept }
  | { readonly t: "call"; readonly call: number; readonly name: string; readonly args: string };

/** One guest: it waits for commands without an event loop, because the guest may wait in the middle of its own stack. */
export async function runWorker({ language, setup, control, port }: WorkerStart): Promise<void> {
  const outlet = createOutlet(control, setup.quotas);
  const commands: Command[] = [];
  const replies: { call: number; reply: ToolReply }[] = [];
  let calls = 0;
  let told = false;

  const send = (message: FromWorker) => port.postMessage(message);
  const collect = () => {
    for (let got = receiveMessageOnPort(port); got; got = receiveMessageOnPort(port)) {
      const message = got.message as ToWorker;
      if (message.t === "command") commands.push(message.command);
      else replies.push({ call: message.call, reply: message.reply });
    }
  };
  const waitFor = <T>(queue: T[], until_ms: number, given_up: () => boolean): T | undefined => {
    for (;;) {
      const bell = outlet.bell();
      collect();
      const next = queue.shift();
      if (next !== undefined || given_up()) return next;
      const left = until_ms - performance.now();
      if (left <= 0) return undefined;
      outlet.sleep(bell, left);
    }
  };

  const bridge: Bridge = {
    next() {
      if (!told) send({ t: "ready" });
      told = true;
      const command = waitFor(commands, Number.POSITIVE_INFINITY, () => false)!;
      outlet.unstop();
      if (command.t === "run") {
        outlet.begin();
        replies.length = 0;
      }
      return command;
    },
    answer: (answer) => send({ t: "answer", answer }),
    keep: (kept) => send({ t: "kept", kept }),
    call(name, args) {
      send({ t: "call", call: ++calls, name, args });
      return calls;
    },
    reply: (timeout_ms) => waitFor(replies, performance.now() + timeout_ms, outlet.stopped),
    write: outlet.write,
    outputLimits: outlet.cuts,
    stopped: outlet.stopped,
    sleep(ms) {
      const until = performance.now() + ms;
      while (performance.now() < until && !outlet.stopped()) outlet.sleep(outlet.bell(), until - performance.now());
    },
  };
  await (language === "python" ? servePython(bridge, setup) : serveJavaScript(bridge, setup));
}
