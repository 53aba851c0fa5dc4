import { Fault } from "../../base/fault.ts";

/**
 * Globs in polynomial time, whatever is asked: `*`, `?`, `[a-z]`, `{a,b}`, `**`. A glob without a slash is matched against the
 * name, one with a slash against the whole relative path. A leading `!` turns it around.
 */
export interface Glob {
  matches(path: string): boolean;
  /** Globs of plain names, one of which every match ends in; undefined where that is not known. */
  readonly names: readonly string[] | undefined;
}

const MAX_ALTERNATIVES = 256;

type Token = "any" | "one" | string | ((char: string) => boolean);
type Segment = "any depth" | readonly Token[];

export function compileGlob(text: string, options: { readonly nocase: boolean }): Glob {
  const fold = (value: string) => (options.nocase ? value.toLowerCase() : value);
  const negated = text.startsWith("!");
  const cleaned = text
    .slice(negated ? 1 : 0)
    .replace(/^(\.?\/)+/, "")
    .replace(/\/+$/, "/**");
  const alternatives = expandBraces(cleaned);
  const anchored = cleaned.includes("/");
  const compiled = alternatives.map((one) => fold(one).split("/").map(compileSegment));
  const test = (path: string) => {
    const segments = fold(path).split("/");
    const subject = anchored ? segments : segments.slice(-1);
    return compiled.some((pattern) => matchSegments(pattern, subject));
  };
  const names = alternatives.map((one) => one.slice(one.lastIndexOf("/") + 1));
  const plain = !negated && !options.nocase && names.every((name) => /^[\w.*?-]+$/.test(name) && name !== "**");
  return { matches: negated ? (path) => !test(path) : test, names: plain ? names : undefined };
}

export function isGlob(text: string): boolean {
  return /[*?[]/.test(text);
}

function expandBraces(text: string): string[] {
  let done: string[] = [""];
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    const end = char === "{" ? closingBrace(text, at) : -1;
    if (char === "\\" || end === -1) {
      const piece = char === "\\" ? text.slice(at, ++at + 1) : char;
      done = done.map((one) => one + piece);
      continue;
    }
    const inner = alternativesOf(text.slice(at + 1, end)).flatMap(expandBraces);
    if (done.length * inner.length > MAX_ALTERNATIVES)
      throw new Fault("invalid_args", `The glob has more than ${MAX_ALTERNATIVES} alternatives in braces.`);
    done = done.flatMap((one) => inner.map((alternative) => one + alternative));
    at = end;
  }
  return done;
}

function closingBrace(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) return at;
  }
  return -1;
}

function alternativesOf(inner: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < inner.length; at++) {
    if (inner[at] === "\\") at++;
    else if (inner[at] === "{") depth++;
    else if (inner[at] === "}") depth--;
    else if (inner[at] === "," && depth === 0) {
      parts.push(inner.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, inner.slice(start)];
}

function compileSegment(text: string): Segment {
  if (text === "**") return "any depth";
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (char === "*") {
      if (tokens.at(-1) !== "any") tokens.push("any");
    } else if (char === "?") tokens.push("one");
    else if (char === "[" && text.indexOf("]", at + 2) !== -1) {
      const end = text.indexOf("]", at + 2);
      tokens.push(charClass(text.slice(at + 1, end)));
      at = end;
    } else if (char === "\\" && at + 1 < text.length) tokens.push(text[++at]!);
    else tokens.push(char);
  }
  return tokens;
}

function charClass(body: string): (char: string) => boolean {
  const negated = body[0] === "!" || body[0] === "^";
  const members = negated ? body.slice(1) : body;
  return (char) => {
    for (let at = 0; at < members.length; at++) {
      if (members[at + 1] === "-" && at + 2 < members.length) {
        if (char >= members[at]! && char <= members[at + 2]!) return !negated;
        at += 2;
      } else if (members[at] === char) return !negated;
    }
    return negated;
  };
}

function matchSegments(pattern: readonly Segment[], names: readonly string[]): boolean {
  return matchList(
    pattern,
    names,
    (segment) => segment === "any depth",
    (segment, name) => matchName(segment as readonly Token[], name),
  );
}

function matchName(tokens: readonly Token[], name: string): boolean {
  return matchList(
    tokens,
    name,
    (token) => token === "any",
    (token, char) => token === "one" || token === char || (typeof token === "function" && token(char)),
  );
}

/** The last star takes one more each time the rest does not fit: earlier ones never need another try. */
function matchList<P, T>(
  pattern: readonly P[],
  items: ArrayLike<T>,
  isStar: (part: P) => boolean,
  fits: (part: P, item: T) => boolean,
): boolean {
  let part = 0;
  let item = 0;
  let star = -1;
  let taken = 0;
  while (item < items.length) {
    if (part < pattern.length && isStar(pattern[part]!)) {
      star = part++;
      taken = item;
    } else if (part < pattern.length && fits(pattern[part]!, items[item]!)) {
      part++;
      item++;
    } else if (star === -1) return false;
    else {
      part = star + 1;
      item = ++taken;
    }
  }
  while (part < pattern.length && isStar(pattern[part]!)) part++;
  return part === pattern.length;
}
