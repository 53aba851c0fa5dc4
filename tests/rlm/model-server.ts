import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Chat {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_output_tokens: number;
  /** The last message. */
  readonly prompt: string;
}

/** What the server does instead of answering. */
export type Trouble =
  | { readonly status: number; readonly retry_after?: string; readonly message?: string; readonly location?: string }
  | "drop"
  | "hang"
  | "garbage"
  | "cut"
  | "no_usage"
  | "absurd_usage"
  | "zero_usage"
  | "nothing_written";

type Bill = (chat: Chat, text: string) => { readonly input: number; readonly output: number };

interface Script {
  model(chat: Chat): string | Promise<string>;
  /** What comes next is taken from the front, a call each; null is an ordinary answer. */
  readonly troubles?: (Trouble | null)[];
  /** What is billed. Default: a token for four characters. */
  readonly bill?: Bill;
  /** Streams, whether or not it was asked to. */
  readonly streams?: boolean;
  readonly delay_ms?: number;
}

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  /** Every request that arrived, oldest first. */
  readonly seen: { readonly path: string; readonly chat: Chat; readonly headers: IncomingMessage["headers"] }[];
  /** Requests whose client went away before the answer. */
  aborted(): number;
  /** Most requests that were under way at once. */
  peak(): number;
}

const fourth: Bill = (chat, text) => ({
  input: Math.ceil((chat.system.length + chat.messages.reduce((sum, { content }) => sum + content.length, 0)) / 4),
  output: Math.ceil(text.length / 4),
});

/** What providers say that did not count. */
const MISCOUNTS: { readonly [trouble in string]?: ReturnType<Bill> | undefined } = {
  no_usage: undefined,
  absurd_usage: { input: -5, output: 1e99 },
  zero_usage: { input: 0, output: 0 },
  nothing_written: { input: 10, output: 0 },
};

/** A server on loopback that speaks OpenAI's chat completions, Ollama's chat and Anthropic's messages, whole and streamed. */
export async function startModelServer(script: Script): Promise<ModelServer> {
  const seen: ModelServer["seen"] = [];
  let [aborted, active, peak] = [0, 0, 0];
  const server = createServer(async (request, response) => {
    const path = request.url ?? "";
    const body = JSON.parse(await textOf(request)) as Record<string, unknown>;
    const chat = chatOf(path, body);
    seen.push({ path, chat, headers: request.headers });
    peak = Math.max(peak, ++active);
    response.on("close", () => {
      active--;
      if (!response.writableFinished) aborted++;
    });
    const trouble = script.troubles?.shift() ?? undefined;
    if (script.delay_ms) await new Promise((resolve) => setTimeout(resolve, script.delay_ms));
    if (troubled(trouble, response)) return;
    const text = await script.model(chat);
    const bill = (script.bill ?? fourth)(chat, text);
    const usage = typeof trouble === "string" && trouble in MISCOUNTS ? MISCOUNTS[trouble] : bill;
    const streams = script.streams === true || body["stream"] === true;
    if (path.endsWith("/chat/completions")) openai(response, text, usage, streams);
    else if (path.endsWith("/api/chat")) ollama(response, text, usage, streams);
    else if (path.endsWith("/messages")) anthropic(response, text, usage);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    aborted: () => aborted,
    peak: () => peak,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function chatOf(path: string, body: Record<string, unknown>): Chat {
  const all = body["messages"] as { role: string; content: string }[];
  const system = (body["system"] as string | undefined) ?? all.find(({ role }) => role === "system")?.content ?? "";
  const options = body["options"] as { num_predict?: number } | undefined;
  const limit = path.endsWith("/api/chat")
    ? options?.num_predict
    : (body["max_tokens"] ?? body["max_completion_tokens"]);
  const messages = all.filter(({ role }) => role !== "system");
  return {
    model: String(body["model"]),
    system,
    messages,
    max_output_tokens: Number(limit),
    prompt: messages.at(-1)?.content ?? "",
  };
}

/** True when the request was dealt with. */
function troubled(trouble: Trouble | undefined, response: ServerResponse): boolean {
  if (trouble === "hang") return true;
  if (trouble === "drop") response.destroy();
  else if (trouble === "garbage") response.writeHead(200, { "content-type": "application/json" }).end("<html>");
  else if (trouble === "cut")
    response.writeHead(200, { "content-length": "1000" }).write("{", () => response.destroy());
  else if (typeof trouble === "object")
    response
      .writeHead(trouble.status, {
        "content-type": "application/json",
        ...(trouble.retry_after === undefined ? {} : { "retry-after": trouble.retry_after }),
        ...(trouble.location === undefined ? {} : { location: trouble.location }),
      })
      .end(JSON.stringify({ error: { message: trouble.message ?? "scripted" } }));
  else return false;
  return true;
}

type Billed = ReturnType<Bill> | undefined;

function openai(response: ServerResponse, text: string, bill: Billed, streams: boolean): void {
  const usage = bill && { prompt_tokens: bill.input, completion_tokens: bill.output };
  if (!streams) {
    const choices = [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }];
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ choices, usage }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const event = (data: unknown) => response.write(`data: ${JSON.stringify(data)}\n\n`);
  for (const piece of pieces(text)) event({ choices: [{ index: 0, delta: { content: piece } }] });
  event({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}

function ollama(response: ServerResponse, text: string, bill: Billed, streams: boolean): void {
  const counts = bill && { prompt_eval_count: bill.input, eval_count: bill.output };
  if (!streams) {
    const body = { message: { role: "assistant", content: text }, done: true, ...counts };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    return;
  }
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  for (const piece of pieces(text))
    response.write(`${JSON.stringify({ message: { role: "assistant", content: piece }, done: false })}\n`);
  response.end(`${JSON.stringify({ message: { role: "assistant", content: "" }, done: true, ...counts })}\n`);
}

function anthropic(response: ServerResponse, text: string, bill: Billed): void {
  const usage = bill && { input_tokens: bill.input, output_tokens: bill.output };
  const body = { content: [{ type: "text", text }], usage };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,40}/gu) ?? [];
}
