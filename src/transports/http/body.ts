import { Fault } from "../../base/fault.ts";

/** The body as JSON, counted while it arrives: neither a false Content-Length nor none at all lets more in. */
export async function readJson(request: Request, max_bytes: number): Promise<unknown> {
  refuseEncoded(request);
  const declared = Number(request.headers.get("content-length") ?? "0");
  if (declared > max_bytes) throw tooLarge(max_bytes);
  const text = await readText(request, max_bytes);
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault("invalid_args", "The body is not JSON.", { hint: "Send application/json." });
  }
}

export async function readText(request: Request, max_bytes: number): Promise<string> {
  if (!request.body) return "";
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > max_bytes) {
      void reader.cancel().catch(() => {});
      throw tooLarge(max_bytes);
    }
    parts.push(value);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** A small packed body can unpack to any size: only plain ones are taken. */
export function refuseEncoded(request: Request): void {
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity")
    throw new Fault("invalid_args", "Content-Encoding is not accepted.", { hint: "Send the body as it is." });
}

function tooLarge(max_bytes: number): Fault {
  return new Fault("request_too_large", `The request is larger than ${max_bytes} bytes.`, {
    hint: "Send less, or raise mcp.limits.max_request_bytes.",
  });
}
