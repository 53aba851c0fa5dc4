import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { Fault } from "../fault.ts";
import type { Egress } from "./egress.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** The connection failed. `sent`: the other side may have got the request. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
  readonly sent: boolean;

  constructor(message: string, sent: boolean, cause: unknown) {
    super(message, { cause });
    this.sent = sent;
  }
}

export interface Poster {
  post(url: URL, headers: Readonly<Record<string, string>>, body: string, signal: AbortSignal): Promise<Answer>;
  close(): void;
}

const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Sends JSON where the rules allow it. Agents of our own: they know no proxy, whatever the environment names, and resolve names
 * only through the judge. A redirect is not followed: it would lead to a host that nobody judged.
 */
export function createPoster(egress: Egress): Poster {
  const how = { keepAlive: true, lookup: egress.lookup };
  const http = new HttpAgent(how);
  const https = new HttpsAgent(how);

  async function post(url: URL, headers: Readonly<Record<string, string>>, body: string, signal: AbortSignal) {
    egress.check(url);
    signal.throwIfAborted();
    const response = await sent(url, headers, body, signal);
    if (response.statusCode! >= 300 && response.statusCode! < 400) {
      response.destroy();
      throw new Fault("egress_denied", `${url.host} answered with a redirect, which is not followed.`, {
        hint: "Set base_url to the address it leads to, if that is where data may go.",
        rule: "no redirects",
      });
    }
    return { status: response.statusCode!, headers: response.headers, body: await bodyOf(response, signal) };
  }

  function sent(
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const isSecure = url.protocol === "https:";
      const make = isSecure ? httpsRequest : httpRequest;
      let connected = false;
      const request = make(url, {
        method: "POST",
        agent: isSecure ? https : http,
        signal,
        headers: { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)), ...headers },
      });
      request.on("socket", (socket) => {
        if (!socket.connecting) connected = true;
        else socket.once("connect", () => (connected = true));
      });
      request.on("response", resolve);
      request.on("error", (error) => reject(asFailure(error, connected, signal)));
      request.end(body);
    });
  }

  return {
    post,
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

async function bodyOf(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BYTES) throw new NetworkError("the answer is too large", true, undefined);
      chunks.push(chunk);
    }
  } catch (error) {
    throw asFailure(error, true, signal);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function asFailure(error: unknown, connected: boolean, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof Fault || error instanceof NetworkError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? "the connection failed";
  return new NetworkError(code, connected, error);
}
