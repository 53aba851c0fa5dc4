import type { DefRow } from "./definition.ts";

/** What a definition says of itself. */
export interface Description {
  readonly signature: string;
  /** Its comment, without the signs of one. */
  readonly doc: string;
}

const MAX_SIGNATURE = 300;
const MAX_DOC = 400;
const SIGNATURE_LINES = 6;
const COMMENT = /^\s*(\/\/|\/\*|\*|#(?!\[|include|define|if|endif|pragma)|"""|'''|--)/;
const DECORATOR = /^\s*(@[\w.]+|#\[|\[[A-Z]\w*)/;

export function describe(def: DefRow, lines: readonly string[]): Description {
  return { signature: signatureOf(def, lines), doc: docOf(def, lines) };
}

/** From its name's line to where its body begins. */
function signatureOf({ line, last }: DefRow, lines: readonly string[]): string {
  let text = "";
  for (let at = line - 1; at < Math.min(last, line - 1 + SIGNATURE_LINES); at++) {
    text = `${text} ${(lines[at] ?? "").trim()}`.trim();
    if (/[{:;]\s*$|=>\s*[{(]?\s*$|\bdo\s*$/.test(text) || text.length > MAX_SIGNATURE) break;
    if (opens(text) === 0) break;
  }
  return text
    .replace(/\s*(=>)?\s*[{]\s*$/, "")
    .replace(/[:;]\s*$/, "")
    .slice(0, MAX_SIGNATURE);
}

function opens(text: string): number {
  let depth = 0;
  for (const char of text)
    if ("([{".includes(char)) depth++;
    else if (")]}".includes(char)) depth--;
  return depth;
}

function docOf({ line }: DefRow, lines: readonly string[]): string {
  const above: string[] = [];
  let at = line - 2;
  while (at >= 0 && DECORATOR.test(lines[at]!)) at--;
  for (; at >= 0 && COMMENT.test(lines[at]!) && above.length < 40; at--) above.unshift(lines[at]!);
  const text = above.length > 0 ? above.join("\n") : docString(lines.slice(line, line + 12));
  return text
    .replace(/^\s*(\/\*\*?|\*\/|\*|\/\/[/!]?|#+|--)[ \t]?/gm, "")
    .replace(/\*\/\s*$|"""|'''/gm, "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_DOC);
}

/** Python's: the first thing in the body. */
function docString(lines: readonly string[]): string {
  const text = lines.join("\n");
  return /^\s*[rR]?("""|''')([\s\S]*?)(\1|$)/.exec(text)?.[2] ?? "";
}
