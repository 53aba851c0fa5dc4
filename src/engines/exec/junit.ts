export interface TestFailure {
  readonly id: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
}

export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly errors: number;
  readonly failures: readonly TestFailure[];
}

const MAX_FAILURES = 100;
const MAX_MESSAGE = 600;
const CASE = /<testcase\b([^>]*?)(\/>|>([\s\S]*?)<\/testcase>)/g;

/** Reads the report that pytest writes. Not a parser of XML at large: of what pytest writes, where `<` and `>` are escaped in all text. */
export function readJunit(xml: string): TestReport {
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  let errors = 0;
  const failures: TestFailure[] = [];
  for (const match of withoutCdata(xml).matchAll(CASE)) {
    const attributes = readAttributes(match[1]!);
    const body = match[3] ?? "";
    const trouble = /<(failure|error)\b([^>]*?)(?:\/>|>([\s\S]*?)<\/\1>)/.exec(body);
    if (!trouble) {
      if (/<skipped\b/.test(body)) skipped++;
      else passed++;
      continue;
    }
    if (trouble[1] === "failure") failed++;
    else errors++;
    if (failures.length < MAX_FAILURES)
      failures.push(describe(attributes, readAttributes(trouble[2]!), unescaped(trouble[3] ?? "")));
  }
  return { passed, failed, skipped, errors, failures };
}

function describe(test: Map<string, string>, trouble: Map<string, string>, text: string): TestFailure {
  const file = test.get("file") ?? null;
  const name = test.get("name") ?? "";
  const module = file?.replace(/\.py$/, "").replaceAll("/", ".") ?? "";
  const classname = test.get("classname") ?? "";
  const inner = classname.startsWith(`${module}.`) ? classname.slice(module.length + 1).split(".") : [];
  const id =
    file === null ? [classname, name].filter(Boolean).join("::") : [file, ...inner, name].filter(Boolean).join("::");
  return { id, file, line: failingLine(file, text) ?? declared(test), message: message(trouble.get("message"), text) };
}

/** The last line of this file that the traceback names. */
function failingLine(file: string | null, text: string): number | undefined {
  if (file === null) return undefined;
  let last: number | undefined;
  for (const line of text.split("\n"))
    if (line.startsWith(`${file}:`)) last = Number(/^:(\d+)/.exec(line.slice(file.length))?.[1]) || last;
  return last;
}

/** pytest counts lines from 0 here. */
function declared(test: Map<string, string>): number | null {
  const line = Number(test.get("line"));
  return test.has("line") && Number.isInteger(line) ? line + 1 : null;
}

function message(attribute: string | undefined, text: string): string {
  const said = text
    .split("\n")
    .filter((line) => line.startsWith("E "))
    .map((line) => line.slice(1).trim());
  const full = said.length > 0 ? said.join("\n") : attribute || text.trim();
  return full.length > MAX_MESSAGE ? `${full.slice(0, MAX_MESSAGE)}...` : full;
}

function readAttributes(text: string): Map<string, string> {
  return new Map([...text.matchAll(/([\w:-]+)="([^"]*)"/g)].map((match) => [match[1]!, unescaped(match[2]!)]));
}

function withoutCdata(xml: string): string {
  return xml.replace(/<!\[CDATA\[([\s\S]*?)\]\]>/g, (_all, text: string) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  );
}

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(#x[0-9a-fA-F]{1,6}|#\d{1,7}|\w{2,4});/g, (all, code: string) => {
    if (!code.startsWith("#")) return NAMED[code] ?? all;
    const point = code[1] === "x" ? Number.parseInt(code.slice(2), 16) : Number(code.slice(1));
    return point <= 0x10ffff ? String.fromCodePoint(point) : all;
  });
}
