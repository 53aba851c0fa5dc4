import type { Enrich } from "../types.ts";
import { counts, type Failure, renderTests, shortPath } from "./report.ts";

/** A JUnit report on stdout. Looked through from left to right, so that a broken one costs no more than a sound one. */
export const junit: Enrich = ({ stdout, exit_code }) => {
  if (!/<testsuites?[\s>]/.test(stdout.slice(0, 4000))) return undefined;
  const failures: Failure[] = [];
  let tests = 0;
  let skipped = 0;
  for (let at = stdout.indexOf("<testcase"); at >= 0; ) {
    const close = stdout.indexOf(">", at);
    if (close < 0) break;
    const next = stdout.indexOf("<testcase", close);
    const tag = stdout.slice(at, close);
    const body = tag.endsWith("/") ? "" : bodyOf(stdout, close + 1, next);
    tests++;
    if (/<skipped[\s/>]/.test(body)) skipped++;
    const problem = /<(failure|error)([^>]*)>/.exec(body);
    if (problem) failures.push(failureOf(tag, problem[2]!, body.slice(problem.index + problem[0].length)));
    at = next;
  }
  if (tests === 0 || (exit_code !== 0 && failures.length === 0)) return undefined;
  const passed = tests - failures.length - skipped;
  return {
    ...renderTests({ summary: `${counts({ failed: failures.length, passed, skipped })} of ${tests}`, failures }),
    covers_stderr: false,
  };
};

function bodyOf(xml: string, from: number, next: number): string {
  const end = xml.indexOf("</testcase>", from);
  const stop = end >= 0 && (next < 0 || end < next) ? end : next < 0 ? xml.length : next;
  return xml.slice(from, stop);
}

function failureOf(tag: string, problem: string, inner: string): Failure {
  const name = [attribute(tag, "classname"), attribute(tag, "name")].filter(Boolean).join(" > ");
  const file = attribute(tag, "file");
  const line = attribute(tag, "line");
  const said = attribute(problem, "message") ?? "";
  const text = decoded(inner.replace(/<!\[CDATA\[|\]\]>|<\/(failure|error)>[\s\S]*/g, ""));
  const place = /((?:\/|\w|\.)[^\s():<>]*\.\w+:\d+)/.exec(text)?.[1];
  const own = file === undefined ? undefined : `${shortPath(file)}${line === undefined ? "" : `:${line}`}`;
  const at = file !== undefined && line === undefined ? placeIn(text, file) : undefined;
  return {
    name,
    place: at ?? own ?? (place === undefined ? undefined : shortPath(place)),
    message: (said === "" ? text : said).split("\n").slice(0, 4),
  };
}

function placeIn(text: string, file: string): string | undefined {
  const at = text.indexOf(`${file}:`);
  const line = at < 0 ? null : /^\d+/.exec(text.slice(at + file.length + 1, at + file.length + 9));
  return line ? `${shortPath(file)}:${line[0]}` : undefined;
}

function attribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)')`).exec(tag);
  return found ? decoded(found[1] ?? found[2] ?? "") : undefined;
}

function decoded(text: string): string {
  return text
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Math.min(Number(code), 0x10ffff)))
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");
}
