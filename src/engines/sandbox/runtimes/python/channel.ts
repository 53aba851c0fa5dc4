import type { Bridge } from "../types.ts";

/** The file through which driver and host talk while a cell runs: commands in, calls of tools, the result out. */
export interface Channel {
  /** `bytes` follow the request as they are. */
  begin(request: Record<string, unknown>, bytes?: Uint8Array): void;
  /** What the driver said when its cell was done. */
  end(): Record<string, unknown>;
  finished(): boolean;
  write(bytes: Uint8Array): void;
  read(max: number): Uint8Array;
}

const CALL = 67;
const DONE = 68;
const MAX_MESSAGE = 64 * 1024 * 1024;

export function createChannel(bridge: Bridge): Channel {
  let inbox: Uint8Array = new Uint8Array(0);
  let outbox: Buffer = Buffer.alloc(0);
  let told: Record<string, unknown> | undefined;

  const deliver = (body: Uint8Array) => {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(body.length);
    inbox = Buffer.concat([inbox, head, body]);
  };

  function heard(kind: number, payload: Buffer): void {
    if (kind === DONE) told = parse(payload);
    if (kind !== CALL || payload.length < 4) return;
    const size = payload.readUInt32LE(0);
    const call = bridge.call(payload.toString("utf8", 4, 4 + size), payload.toString("utf8", 4 + size));
    for (;;) {
      const answered = bridge.reply(Number.POSITIVE_INFINITY);
      if (answered?.call !== call) continue;
      deliver(Buffer.from(`{"ok":${answered.reply.ok},"value":${answered.reply.json}}`));
      return;
    }
  }

  return {
    begin(request, bytes) {
      told = undefined;
      inbox = new Uint8Array(0);
      outbox = Buffer.alloc(0);
      deliver(Buffer.from(JSON.stringify(request)));
      if (bytes) deliver(bytes);
    },
    end: () => told ?? {},
    finished: () => told !== undefined,
    write(bytes) {
      outbox = outbox.length === 0 ? Buffer.from(bytes) : Buffer.concat([outbox, bytes]);
      while (outbox.length >= 5) {
        const size = outbox.readUInt32LE(0);
        if (size > MAX_MESSAGE) throw new RangeError("message too large");
        if (outbox.length < 5 + size) return;
        const kind = outbox[4]!;
        const payload = outbox.subarray(5, 5 + size);
        outbox = outbox.subarray(5 + size);
        heard(kind, payload);
      }
    },
    read(max) {
      const part = inbox.subarray(0, max);
      inbox = inbox.subarray(part.length);
      return part;
    },
  };
}

function parse(payload: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(payload.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
