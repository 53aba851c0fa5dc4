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

interface Element {
  readonly attributes: string;
  readonly body: string;
}

/** Reads the report that pytest writes. Not a parser of XML at large: of what pytest writes, where `<` and `>` are escaped in all text. */
export function readJunit(xml: string): TestReport {
  const counts = { passed: 0, failed: 0, skipped: 0, errors: 0 };
  const failures: TestFailure[] = [];
  for (const test of elements(withoutCdata(xml), "testcase")) {
    const failure = first(test.body, "failure");
    const trouble = failure ?? first(test.body, "error");
    if (!trouble) {
      counts[test.body.includes("<skipped") ? "skipped" : "passed"]++;
      continue;
    }
    counts[failure ? "failed" : "errors"]++;
    if (failures.length < MAX_FAILURES)
      failures.push(
        describe(readAttributes(test.attributes), readAttributes(trouble.attributes), unescaped(trouble.body)),
      );
  }
  return { ...counts, failures };
}

/** Each element of this name in turn. Goes forward only, since a report can be long and the project's tests write into it. */
function* elements(xml: string, name: string): Generator<Element> {
  const open = `<${name}`;
  for (let at = xml.indexOf(open); at >= 0; at = xml.indexOf(open, at)) {
    const start = at + open.length;
    const close = xml.indexOf(">", start);
    if (close < 0) return;
    const isEmpty = xml[close - 1] === "/";
    const end = isEmpty ? close : xml.indexOf(`</${name}>`, close);
    if (end < 0) return;
    at = end + 1;
    if (/[\s/>]/.test(xml[start]!))
      yield {
        attributes: xml.slice(start, isEmpty ? close - 1 : close),
        body: isEmpty ? "" : xml.slice(close + 1, end),
      };
  }
}

function first(xml: string, name: string): Element | undefined {
  return elements(xml, name).next().value ?? undefined;
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
  return new Map([...text.matchAll(/(?<=\s|^)([\w:-]+)="([^"]*)"/g)].map((match) => [match[1]!, unescaped(match[2]!)]));
}

/** Verbatim text becomes escaped text, so that nothing in it looks like an element. */
function withoutCdata(xml: string): string {
  const [before, ...rest] = xml.split("<![CDATA[");
  return [
    before,
    ...rest.map((part) => {
      const end = part.indexOf("]]>");
      return end < 0 ? escaped(part) : escaped(part.slice(0, end)) + part.slice(end + 3);
    }),
  ].join("");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(#x[0-9a-fA-F]{1,6}|#\d{1,7}|\w{2,4});/g, (all, code: string) => {
    if (!code.startsWith("#")) return NAMED[code] ?? all;
    const point = code[1] === "x" ? Number.parseInt(code.slice(2), 16) : Number(code.slice(1));
    return point <= 0x10ffff ? String.fromCodePoint(point) : all;
  });
}
