import type { IncomingMessage } from "node:http";
import { Fault } from "../../base/fault.ts";
import type { HeaderList } from "./headers.ts";

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault("invalid_args", "The body is not JSON.", { hint: "Send application/json." });
  }
}

/** The body as text, counted while it arrives: neither a false Content-Length nor none at all lets more in. */
export async function readBody(
  headers: HeaderList,
  chunks: AsyncIterable<Uint8Array>,
  max_bytes: number,
): Promise<string> {
  refuseEncoded(headers);
  if (Number(headers.get("content-length") ?? "0") > max_bytes) throw tooLarge(max_bytes);
  return readText(chunks, max_bytes);
}

async function readText(chunks: AsyncIterable<Uint8Array>, max_bytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > max_bytes) throw tooLarge(max_bytes);
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Straight from the socket where there is one: a stream of the web's kind costs as much as the rest of a small request. */
export function chunksOf(request: Request, incoming: IncomingMessage | undefined): AsyncIterable<Uint8Array> {
  // A body that is refused halfway must not take the connection with it: the refusal still has to go out.
  return (
    incoming?.iterator({ destroyOnReturn: false }) ?? (request.body as AsyncIterable<Uint8Array> | null) ?? NOTHING
  );
}

const NOTHING: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} };

/** A small packed body can unpack to any size: only plain ones are taken. */
function refuseEncoded(headers: HeaderList): void {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity")
    throw new Fault("invalid_args", "Content-Encoding is not accepted.", { hint: "Send the body as it is." });
}

function tooLarge(max_bytes: number): Fault {
  return new Fault("request_too_large", `The request is larger than ${max_bytes} bytes.`, {
    hint: "Send less, or raise mcp.limits.max_request_bytes.",
  });
}
