import { Fault } from "../base/fault.ts";
import type { Principal } from "../base/principal.ts";
import type { Handles } from "../engines/handles/types.ts";
import { type Format, isObject, leanOf, renderPayload } from "./reply.ts";
import { atMostTokens, countTokens } from "./tokens.ts";
import type { Tool } from "./tool.ts";

type Json = Record<string, unknown>;

interface Bounds {
  readonly format: Format;
  readonly max_tokens: number;
  readonly owner: Principal;
  handles(): Promise<Handles>;
  /** Told when the store failed: the call is answered all the same. */
  onStoreFault(fault: unknown): void;
}

export interface Bounded {
  readonly text: string;
  readonly truncated: boolean;
}

/** The estimate may be a fifth too low on hostile text (base64): the promise holds all the same. */
const MARGIN = 0.8;

/** What a model gets: the whole answer, or its beginning and a handle to the rest. Applied once, where a model reads. */
export async function bound(tool: Tool, payload: unknown, args: Json, bounds: Bounds): Promise<Bounded> {
  const text = renderPayload(tool, payload, args, bounds.format);
  const limit = Math.floor(bounds.max_tokens * MARGIN);
  if (fits(text, limit)) return { text, truncated: false };
  if (tool.shortened) return { text: shortened(tool, payload, args, bounds.format, limit), truncated: true };
  const handle = ownHandle(payload) ?? (await stored(text, tool, bounds));
  const cut = bounds.format === "lean" ? cutLean(tool, payload, args, handle, limit) : cutJson(payload, handle, limit);
  return { text: cut, truncated: true };
}

/** Cuts the bulk until the rendered whole fits: escaping makes it dearer than it looks. */
function shortened(tool: Tool, payload: unknown, args: Json, format: Format, limit: number): string {
  const body = leanOf(tool, payload, args).body ?? "";
  let room = limit - 60;
  for (;;) {
    const text = renderPayload(tool, tool.shortened!(payload, args, prefix(body, room)), args, format);
    if (room < 64 || countTokens(text) <= limit) return text;
    room = Math.floor(room * 0.85);
  }
}

/** Counting costs: a short text fits, whatever it holds. */
function fits(text: string, limit: number): boolean {
  if (text.length > limit * 30) return false;
  return (text.length <= limit && atMostTokens(text) <= limit) || countTokens(text) <= limit;
}

/** A tool that already keeps the rest behind a handle needs no second one. */
function ownHandle(payload: unknown): string | undefined {
  if (!isObject(payload)) return undefined;
  const handle = payload["handle"] ?? (isObject(payload["meta"]) ? payload["meta"]["handle"] : undefined);
  return typeof handle === "string" ? handle : undefined;
}

async function stored(text: string, tool: Tool, bounds: Bounds): Promise<string | undefined> {
  try {
    const handles = await bounds.handles();
    return await handles.put(bounds.owner, text, { kind: tool.name });
  } catch (error) {
    bounds.onStoreFault(error);
    return undefined;
  }
}

function cutLean(tool: Tool, payload: unknown, args: Json, handle: string | undefined, limit: number): string {
  const lean = leanOf(tool, payload, args);
  if (lean.body === undefined) return cutJson(lean.head, handle, limit);
  const head = JSON.stringify({ ...lean.head, ...(handle === undefined ? {} : { handle }), truncated: true });
  const room = limit - countTokens(head) - 10;
  return `${head}\n\n${prefix(lean.body, room)}`;
}

/** The longest prefix that costs at most this much, cut at a line's end where there is one near. */
export function prefix(text: string, max_tokens: number): string {
  let low = 0;
  let high = Math.min(text.length, max_tokens * 8);
  if (countTokens(text.slice(0, high)) > max_tokens) {
    while (high - low > 64) {
      const middle = (low + high) >> 1;
      if (countTokens(text.slice(0, middle)) <= max_tokens) low = middle;
      else high = middle;
    }
  } else low = high;
  const line = text.lastIndexOf("\n", low);
  const end = line > low / 2 ? line + 1 : unsplit(text, low);
  return text.slice(0, end);
}

/** Not between the halves of a character. */
function unsplit(text: string, index: number): number {
  const code = text.charCodeAt(index - 1);
  return code >= 0xd800 && code <= 0xdbff ? index - 1 : index;
}

/** Shortens the payload's largest text or list until all of it fits; its shape stays. */
function cutJson(payload: unknown, handle: string | undefined, limit: number): string {
  if (!isObject(payload)) throw tooLarge(handle);
  const copy = structuredClone(payload);
  const target = isObject(copy["meta"]) ? copy["meta"] : copy;
  target["truncated"] = true;
  if (handle !== undefined) target["handle"] = handle;
  for (let round = 0; round < 12; round++) {
    const text = JSON.stringify(copy);
    const cost = countTokens(text);
    if (cost <= limit) return text;
    const largest = largestField(copy, 3);
    if (!largest) break;
    largest.shrink((limit / cost) * 0.9);
  }
  throw tooLarge(handle);
}

interface Field {
  readonly size: number;
  shrink(ratio: number): void;
}

function largestField(node: Json, depth: number): Field | undefined {
  let best: Field | undefined;
  for (const [key, value] of Object.entries(node)) {
    const field = fieldOf(node, key, value, depth);
    if (field && (!best || field.size > best.size)) best = field;
  }
  return best;
}

function fieldOf(node: Json, key: string, value: unknown, depth: number): Field | undefined {
  if (typeof value === "string" && value.length > 64)
    return {
      size: value.length,
      shrink: (ratio) => {
        const end = Math.floor(value.length * ratio);
        const line = value.lastIndexOf("\n", end);
        node[key] = value.slice(0, line > end / 2 ? line + 1 : unsplit(value, end));
      },
    };
  if (Array.isArray(value) && value.length > 1)
    return {
      size: JSON.stringify(value).length,
      shrink: (ratio) => {
        node[key] = value.slice(0, Math.floor(value.length * ratio));
      },
    };
  return isObject(value) && depth > 0 ? largestField(value, depth - 1) : undefined;
}

function tooLarge(handle: string | undefined): Fault {
  return new Fault("file_too_large", "The answer is larger than a reply may be.", {
    hint:
      handle === undefined
        ? "Ask for less."
        : `All of it is behind ${handle}: read it with linux_handle_read or read_file.`,
  });
}
