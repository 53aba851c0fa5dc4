const DONE = "[DONE]";

/** A reply as one value, also from servers that stream although they were not asked to. */
export function wholeReply(body: string, content_type: string): unknown {
  if (content_type.includes("text/event-stream")) return fromEvents(body);
  if (content_type.includes("ndjson")) return fromLines(body);
  return JSON.parse(body);
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly usage?: unknown;
}

/** OpenAI's server-sent events. A stream without its end was cut off. */
function fromEvents(body: string): unknown {
  let content = "";
  let usage: unknown;
  let ended = false;
  for (const line of body.split(/\r?\n/)) {
    if (!line.startsWith("data:")) continue;
    const data = line.slice(5).trim();
    if (data === DONE) {
      ended = true;
      break;
    }
    const chunk = JSON.parse(data) as Chunk;
    content += chunk.choices?.[0]?.delta?.content ?? "";
    usage = chunk.usage ?? usage;
  }
  if (!ended) throw new SyntaxError("the stream has no end");
  return { choices: [{ message: { content } }], usage };
}

interface Line {
  readonly message?: { readonly content?: string };
  readonly done?: boolean;
}

/** Ollama's lines: the last one says that it is done, and the counts. */
function fromLines(body: string): unknown {
  const lines = body
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Line);
  const last = lines.at(-1);
  if (last?.done !== true) throw new SyntaxError("the stream has no end");
  return { ...last, message: { content: lines.map((line) => line.message?.content ?? "").join("") } };
}
