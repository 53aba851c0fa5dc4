import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";

interface LineTransportOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly max_line_bytes: number;
}

const NEWLINE = 10;
/** Of a line that is too long, this much of its beginning and of its end is kept to find the request's id in. */
const EDGE_BYTES = 512;

/**
 * One JSON-RPC message a line. What is not one is answered with a protocol error and the connection lives on; a line that is
 * too long is dropped while it arrives, so that its size costs nothing.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Called once, after the first line went out. */
  onfirst?: (() => void) | undefined;
  private readonly options: LineTransportOptions;
  private parts: Buffer[] = [];
  private size = 0;
  /** Set while a line over the limit is being dropped. */
  private head: string | undefined;
  private tail = "";
  private closed = false;

  constructor(options: LineTransportOptions) {
    this.options = options;
  }

  async start(): Promise<void> {
    const { input, output } = this.options;
    input.on("data", this.take);
    input.on("end", this.end);
    input.on("close", this.end);
    input.on("error", this.end);
    output.on("error", this.end);
    if (input.readableEnded || input.destroyed) setImmediate(this.end);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.write(JSON.stringify(message));
    this.onfirst?.();
    this.onfirst = undefined;
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    const { input } = this.options;
    input.off("data", this.take);
    input.pause();
    this.parts = [];
    this.onclose?.();
  }

  private readonly end = (): void => void this.close();

  private readonly take = (chunk: Buffer): void => {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.append(chunk.subarray(from, at));
      this.line();
      from = at + 1;
    }
    this.append(chunk.subarray(from));
  };

  private append(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.head !== undefined) {
      this.tail = (this.tail + bytes.subarray(-EDGE_BYTES).toString("latin1")).slice(-EDGE_BYTES);
      return;
    }
    this.parts.push(bytes);
    this.size += bytes.length;
    if (this.size <= this.options.max_line_bytes) return;
    const kept = Buffer.concat(this.parts);
    this.head = kept.toString("latin1", 0, EDGE_BYTES);
    this.tail = kept.toString("latin1", kept.length - EDGE_BYTES);
    this.parts = [];
  }

  private line(): void {
    const { head, tail, parts } = this;
    this.parts = [];
    this.size = 0;
    this.head = undefined;
    if (head !== undefined)
      return this.refuse(-32600, `Request is longer than ${this.options.max_line_bytes} bytes`, idIn(head, tail));
    const text = (parts.length === 1 ? parts[0]! : Buffer.concat(parts)).toString("utf8");
    if (text.trim() !== "") this.deliver(text);
  }

  private deliver(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return this.refuse(-32700, "Parse error: a line is one JSON message", null);
    }
    if (!isMessage(message)) return this.refuse(-32600, "Invalid request: not a JSON-RPC 2.0 message", idOf(message));
    this.onmessage?.(message);
  }

  private refuse(code: number, text: string, id: string | number | null): void {
    this.onerror?.(new Error(text));
    void this.write(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: text } })).catch(() => {});
  }

  private write(line: string): Promise<void> {
    if (this.closed) return Promise.reject(new Error("The connection is closed"));
    const { output } = this.options;
    if (output.write(`${line}\n`)) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        output.off("drain", done);
        output.off("close", done);
        resolve();
      };
      output.on("drain", done);
      output.on("close", done);
    });
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== "object" || value === null) return false;
  const { jsonrpc, id, method, result, error } = value as Record<string, unknown>;
  if (jsonrpc !== "2.0") return false;
  if (id !== undefined && typeof id !== "string" && !Number.isInteger(id)) return false;
  return typeof method === "string" || (id !== undefined && (result !== undefined || error !== undefined));
}

function idOf(value: unknown): string | number | null {
  const id = (value as { id?: unknown } | null)?.id;
  return typeof id === "string" || Number.isInteger(id) ? (id as string | number) : null;
}

/** The id of a message whose middle was dropped: at its beginning or at its end, never inside its parameters. */
function idIn(head: string, tail: string): string | number | null {
  const first = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d+|"[^"\\]{0,200}")/.exec(head);
  const last =
    /\}\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d+|"[^"\\]{0,200}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(
      tail,
    );
  const found = first ?? last;
  return found ? (JSON.parse(found[1]!) as string | number) : null;
}
