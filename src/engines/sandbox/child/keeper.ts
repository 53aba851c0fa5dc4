import { readFileSync } from "node:fs";
import { MessageChannel, Worker } from "node:worker_threads";
import { checksum, packKept } from "../runtimes/image.ts";
import { PRELUDE } from "../runtimes/javascript/prelude.ts";
import { DRIVER } from "../runtimes/python/driver.ts";
import { withMemoryLimit } from "../runtimes/python/wasm.ts";
import type { Command, Kept, Language, Setup } from "../runtimes/types.ts";
import { createControl, createKeeper } from "./control.ts";
import { readPackages } from "./packages.ts";
import type { FromChild, Init, ToChild, WithoutBytes } from "./protocol.ts";
import type { FromWorker, ToWorker, WorkerStart } from "./worker.ts";

const NOTHING = new Uint8Array(0);
const SWEEP_BYTES = 4 * 1024 * 1024;

type Send = (message: FromChild, body?: Uint8Array) => void;

interface Guest {
  readonly post: (message: ToWorker) => void;
  readonly control: ReturnType<typeof createKeeper>;
  readonly worker: Worker;
  rescue: boolean;
  /** Where the parts of a long text pass, one at a time: copies of each would pile up faster than they are swept. */
  window?: SharedArrayBuffer;
}

/** The child's main thread: starts guests as workers, carries messages, and ends them. It decides nothing. */
export function createGuests(entry: URL, send: Send): (message: ToChild, body: Buffer) => void {
  const guests = new Map<number, Guest>();
  const setups = new Map<Language, Setup>();
  let init: Init;

  function setupOf(language: Language): Setup {
    const known = setups.get(language);
    if (known) return known;
    const wasm = readFileSync(init.wasm[language]);
    const extra = language === "javascript" ? 8 * 1024 * 1024 : 0;
    const setup: Setup = {
      module: new WebAssembly.Module(new Uint8Array(withMemoryLimit(wasm, init.quotas.memory_bytes + extra))),
      quotas: init.quotas,
      runtime_id: checksum(wasm, language === "python" ? DRIVER : PRELUDE),
      packages: readPackages(init.packages[language], language === "python" ? /./ : /\.m?js$/),
    };
    setups.set(language, setup);
    return setup;
  }

  function open(guest: number, language: Language): void {
    const setup = setupOf(language);
    const control = createControl(setup.quotas);
    const keeper = createKeeper(control, setup.quotas);
    const { port1, port2 } = new MessageChannel();
    const start: WorkerStart = { language, setup, control, port: port2 };
    const worker = new Worker(entry, {
      workerData: start,
      transferList: [port2],
      env: {},
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 512, stackSizeMb: 8 },
    });
    let reason = "ended";
    let kept: Required<Kept> | undefined;
    worker.on("error", (error) => (reason = error.message.slice(0, 200)));
    worker.on("exit", () => {
      const wanted = guests.get(guest)?.rescue === true && kept;
      guests.delete(guest);
      send({ t: "stopped", guest });
      port1.close();
      const printed = { stdout: keeper.printed("stdout"), stderr: keeper.printed("stderr") };
      const tell = (image?: Uint8Array) => send({ t: "ended", guest, reason, ...printed }, image);
      if (wanted) void packKept(wanted).then(tell, () => tell());
      else tell();
    });
    port1.on("message", (message: FromWorker) => {
      if (message.t === "ready") send({ t: "ready", guest });
      else if (message.t === "kept") kept = { ...message.kept, files: message.kept.files ?? kept?.files ?? NOTHING };
      else if (message.t === "call")
        send({ t: "call", guest, call: message.call, name: message.name.slice(0, 200) }, Buffer.from(message.args));
      else answer(guest, message, keeper);
    });
    const post = (message: ToWorker) => {
      port1.postMessage(message);
      keeper.ring();
    };
    guests.set(guest, { post, control: keeper, worker, rescue: false });
  }

  function answer(guest: number, { answer: given }: FromWorker & { t: "answer" }, keeper: Guest["control"]): void {
    if (given.t === "saved") send({ t: "answer", guest, answer: { ...given, image: NOTHING } }, given.image);
    else if (given.t === "done")
      send(
        {
          t: "answer",
          guest,
          answer: { ...given, contents: NOTHING },
          stdout: keeper.printed("stdout"),
          stderr: keeper.printed("stderr"),
        },
        given.contents,
      );
    else send({ t: "answer", guest, answer: given });
  }

  return (message, body) => {
    if (message.t === "init") {
      init = message;
      return;
    }
    if (message.t === "open") {
      open(message.guest, message.language);
      return;
    }
    const guest = guests.get(message.guest);
    if (!guest) return;
    if (message.t === "command") {
      guest.post({ t: "command", command: withBytes(guest, message.command, body) });
    } else if (message.t === "reply")
      guest.post({ t: "reply", call: message.call, reply: { ok: message.ok, json: body.toString("utf8") } });
    else if (message.t === "stop") guest.control.stop();
    else if (message.t === "peek")
      send({ t: "peeked", guest: message.guest, stdout: guest.control.printed("stdout").slice(-2000) });
    else {
      guest.rescue = message.rescue;
      void guest.worker.terminate();
    }
  };
}

function withBytes(guest: Guest, command: WithoutBytes, body: Buffer): Command {
  if (command.t === "load") return { t: "load", image: body };
  if (command.t !== "put") return command;
  if ((guest.window?.byteLength ?? 0) < body.length) guest.window = new SharedArrayBuffer(body.length);
  const bytes = new Uint8Array(guest.window!, 0, body.length);
  bytes.set(body);
  // What came through the pipe is garbage now. Objects this small would call the sweeper only after hundreds of megabytes.
  if (command.at % SWEEP_BYTES === 0) void globalThis.gc?.({ type: "minor" });
  return { ...command, bytes };
}
