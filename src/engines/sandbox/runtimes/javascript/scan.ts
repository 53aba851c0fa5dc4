/** A word of the source at the top level, outside strings, comments and brackets. */
export interface TopLevel {
  /** Where a statement begins with one of the words looked for. */
  readonly at: number;
  readonly word: string;
}

export interface Scanned {
  readonly statements: readonly TopLevel[];
  /** Where each brace that opens at the top level closes. */
  readonly closes: ReadonlyMap<number, number>;
  /** All brackets and strings were closed. Where not, the source is left as it is. */
  readonly whole: boolean;
}

const WORDS = new Set(["const", "let", "class", "import", "export"]);
const BEFORE_REGEX = new Set([
  "return",
  "typeof",
  "case",
  "in",
  "of",
  "do",
  "else",
  "void",
  "delete",
  "throw",
  "new",
  "await",
  "yield",
  "instanceof",
]);
const OPENS = "([{";
const CLOSES = ")]}";

/** Finds declarations at the top level without parsing: enough to know strings, templates, comments, regular expressions and brackets. */
export function scan(source: string): Scanned {
  const statements: TopLevel[] = [];
  const closes = new Map<number, number>();
  const stack: { char: string; at: number }[] = [];
  let previous = "";
  let fresh = true;
  let at = 0;

  const skipString = (quote: string): boolean => {
    for (at++; at < source.length; at++) {
      if (source[at] === "\\") at++;
      else if (source[at] === quote) return true;
      else if (source[at] === "\n") return false;
    }
    return false;
  };
  /** Up to the end of the template, or into its next hole. */
  const skipTemplate = (): boolean => {
    for (; at < source.length; at++) {
      if (source[at] === "\\") at++;
      else if (source[at] === "`") return true;
      else if (source[at] === "$" && source[at + 1] === "{") {
        stack.push({ char: "`", at: at++ });
        return true;
      }
    }
    return false;
  };
  const skipRegex = (): boolean => {
    let inClass = false;
    for (at++; at < source.length; at++) {
      const char = source[at];
      if (char === "\\") at++;
      else if (char === "\n") return false;
      else if (char === "[") inClass = true;
      else if (char === "]") inClass = false;
      else if (char === "/" && !inClass) return true;
    }
    return false;
  };
  const isRegex = () => previous === "" || /[(,=:[!&|?{};+\-*%<>~^]$/.test(previous) || BEFORE_REGEX.has(previous);
  const failed = { statements: [], closes, whole: false };

  for (; at < source.length; at++) {
    const char = source[at]!;
    if (char === "\n") {
      // A line that follows a finished expression may begin a statement; one that follows an operator cannot.
      if (!/[,=+\-*%<>&|?:.([{!~^]$/.test(previous)) fresh = true;
      continue;
    }
    if (char === " " || char === "\t" || char === "\r") continue;
    if (char === "/" && source[at + 1] === "/") {
      const end = source.indexOf("\n", at);
      at = end === -1 ? source.length : end - 1;
      continue;
    }
    if (char === "/" && source[at + 1] === "*") {
      const end = source.indexOf("*/", at + 2);
      if (end === -1) return failed;
      at = end + 1;
      continue;
    }
    if (char === '"' || char === "'") {
      if (!skipString(char)) return failed;
      previous = "string";
      fresh = false;
      continue;
    }
    if (char === "`") {
      at++;
      if (!skipTemplate()) return failed;
      previous = "string";
      fresh = false;
      continue;
    }
    if (char === "/" && isRegex()) {
      if (!skipRegex()) return failed;
      previous = "regex";
      fresh = false;
      continue;
    }
    if (OPENS.includes(char)) {
      stack.push({ char, at });
      previous = char;
      fresh = false;
      continue;
    }
    if (CLOSES.includes(char)) {
      const open = stack.pop();
      if (open?.char === "`" && char === "}") {
        at++;
        if (!skipTemplate()) return failed;
        previous = "string";
        continue;
      }
      if (!open || OPENS.indexOf(open.char) !== CLOSES.indexOf(char)) return failed;
      if (stack.length === 0 && char === "}") closes.set(open.at, at);
      previous = char;
      fresh = char === "}";
      continue;
    }
    if (/[\w$\u0080-\uffff]/.test(char)) {
      const word = /^[\w$\u0080-\uffff]+/.exec(source.slice(at, at + 200))![0];
      if (stack.length === 0 && (fresh || statements.length + at === 0) && WORDS.has(word))
        statements.push({ at, word });
      at += word.length - 1;
      previous = word;
      fresh = false;
      continue;
    }
    previous = previous.length < 3 && /^[^\w]*$/.test(previous) ? previous + char : char;
    fresh = char === ";";
  }
  return stack.length === 0 ? { statements, closes, whole: true } : failed;
}
