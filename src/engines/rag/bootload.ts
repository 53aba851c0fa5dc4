import { closeSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pinFile, type Roots, reopen } from "../../base/path/index.ts";
import type { Scope } from "./options.ts";
import type { Bootload, FoundSnippet, Stats } from "./types.ts";

interface BootloadDeps {
  readonly roots: Roots;
  readonly root: string;
  readonly budget_tokens: number;
  readonly scope: Scope;
  tokens(text: string): number;
  stats(): Promise<Stats>;
  search(q: string, budget_tokens: number): Promise<readonly FoundSnippet[]>;
}

/** What a project says to whoever works on it, the most binding first. */
const DOCUMENTS = ["AGENTS.md", "CONTRACTS.md", "CLAUDE.md", "README.md"];
const MAX_BYTES = 256 * 1024;
const SAFE = 0.9;

/** What to know before a task: the rules of the house, where it speaks of, and what is missing. */
export async function bootload(
  request: { session_id: string; task_id: string },
  signal: AbortSignal,
  deps: BootloadDeps,
): Promise<Bootload> {
  const found = DOCUMENTS.map((name) => ({ name, text: textOf(deps, name) }));
  const missing = found.filter(({ text }) => text === undefined).map(({ name }) => name);
  const stats = await deps.stats();
  signal.throwIfAborted();
  const facts = [
    missing.length > 0 ? `Missing: ${missing.join(", ")}.` : "",
    indexNote(stats),
    stats.last_error === null ? "" : `Last index error: ${stats.last_error}`,
  ];
  const head = facts.filter((part) => part !== "").join(" ");
  // An id of a task is often words: "fix-login-redirect" finds something, "T-17" does not.
  const words = request.task_id.replace(/[-_/:.]+/g, " ").trim();
  const budget = deps.budget_tokens * SAFE - deps.tokens(head) - 40;
  const hits = /\p{L}{4}/u.test(words) ? await deps.search(words, deps.budget_tokens) : [];
  const plan = planOf(
    found.filter((one) => one.text !== undefined).map((one) => one.name),
    hits,
  );
  const notes = [head, ...quoted(found, budget - deps.tokens(plan), deps)].filter((part) => part !== "").join("\n\n");
  return { plan: within(plan, deps.budget_tokens * SAFE, deps), scope: deps.scope, notes };
}

function planOf(documents: readonly string[], hits: readonly FoundSnippet[]): string {
  const steps: string[] = [];
  if (documents.length > 0) steps.push(`Read ${documents.join(", ")}: the rules and the shape of this repository.`);
  if (hits.length > 0) steps.push(`Look at ${hits.map((hit) => hit.src).join(", ")}.`);
  steps.push("Ask rag_search where things are before you open files.");
  return steps.map((step, index) => `${index + 1}. ${step}`).join("\n");
}

function indexNote(stats: Stats): string {
  const languages = Object.keys(stats.languages).slice(0, 4).join(", ");
  const coverage = stats.coverage < 1 ? `, ${Math.round(stats.coverage * 100)} % indexed so far` : "";
  return `Index: ${stats.files} files${languages === "" ? "" : ` (mostly ${languages})`}${coverage}.`;
}

/** Each document from its beginning, the first ones getting more, cut at line ends. */
function quoted(
  found: readonly { name: string; text: string | undefined }[],
  budget: number,
  deps: BootloadDeps,
): string[] {
  const parts: string[] = [];
  let left = budget;
  const there = found.filter((one) => one.text !== undefined);
  for (const [index, { name, text }] of there.entries()) {
    const share = index === there.length - 1 ? left : left * 0.5;
    const body = within(said(text!), share - deps.tokens(name) - 4, deps);
    if (body === "") continue;
    const part = `${name}:\n${body}`;
    left -= deps.tokens(part) + 2;
    parts.push(part);
  }
  return parts;
}

/** Without badges and markup around pictures, which say nothing about the work. */
function said(text: string): string {
  const lines = text
    .split("\n")
    .filter((line) => !/^\s*(\[?!\[|<\/?(div|p|a|img|br|hr|h1|picture|source)\b)/i.test(line));
  return lines
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

function within(text: string, tokens: number, deps: BootloadDeps): string {
  const lines: string[] = [];
  let left = tokens;
  for (const line of text.split("\n")) {
    left -= deps.tokens(line) + 1;
    if (left < 0) break;
    lines.push(line);
  }
  return lines.join("\n");
}

function textOf(deps: BootloadDeps, name: string): string | undefined {
  try {
    using pinned = pinFile(deps.roots, deps.roots.mint(join(deps.root, name), "read"));
    if (pinned.stat.size > MAX_BYTES) return undefined;
    const fd = reopen(pinned);
    try {
      return readFileSync(fd, "utf8");
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}
