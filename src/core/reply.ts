import { type Fault, linuxWord } from "../base/fault.ts";
import { safeJson, visible } from "../base/text.ts";
import type { Lean, Tool } from "./tool.ts";

export type Format = "json" | "lean";

type Json = Record<string, unknown>;

/** A payload as text for a model. */
export function renderPayload(tool: Tool, payload: unknown, args: Record<string, unknown>, format: Format): string {
  if (format === "json") return safeJson(payload);
  const lean = leanOf(tool, payload, args);
  return lean.body === undefined ? safeJson(lean.head) : joined(lean.head, lean.body);
}

function joined(head: Json, body: string): string {
  const first = safeJson(head);
  return `${first}\n\n${body}`;
}

export function leanOf(tool: Tool, payload: unknown, args: Record<string, unknown>): Lean {
  const own = tool.lean?.(payload, args);
  if (own) return { ...own, head: dropEmpty(own.head) };
  if (!isObject(payload)) return { head: { result: payload } };
  if (tool.bulk === undefined) return { head: dropEmpty(payload) };
  const { [tool.bulk]: bulk, ...rest } = payload;
  return { head: dropEmpty(rest), body: bodyOf(bulk) };
}

function bodyOf(bulk: unknown): string {
  if (typeof bulk === "string") return bulk;
  return Array.isArray(bulk)
    ? bulk.map((item) => (typeof item === "string" ? visible(item) : safeJson(item))).join("\n")
    : safeJson(bulk);
}

/** Without what a model learns nothing from: nulls, and folders of nothing. */
function dropEmpty(value: Json): Json {
  const kept: Json = {};
  for (const [key, child] of Object.entries(value)) {
    if (child === null || child === undefined) continue;
    const inner = isObject(child) ? dropEmpty(child) : child;
    if (isObject(inner) && Object.keys(inner).length === 0) continue;
    kept[key] = inner;
  }
  return kept;
}

export interface FaultFacts {
  readonly tool: string;
  readonly correlation_id: string | undefined;
}

/** A fault as a model reads it. The linux_* tools speak their contract's words; code always gets the canonical one. */
export function faultPayload(fault: Fault, { tool, correlation_id }: FaultFacts): Json {
  return {
    error: faultText(fault),
    meta: {
      error_code: tool.startsWith("linux_") ? linuxWord(fault.code) : fault.code,
      retryable: fault.retryable,
      ...(correlation_id === undefined ? {} : { correlation_id }),
    },
  };
}

/** Message and hint as one text. */
export function faultText(fault: Fault): string {
  if (fault.hint === undefined) return fault.message;
  return /[.!?…:]$/.test(fault.message) ? `${fault.message} ${fault.hint}` : `${fault.message}. ${fault.hint}`;
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
