import { shownLine } from "./cut.ts";
import type { FileHits, Found, Hit } from "./found.ts";
import type { LineRecord } from "./records.ts";
import type { VerifiedFile, Verifier } from "./verified.ts";

interface CollectorOptions {
  readonly context_lines: number;
  readonly max_line_chars: number;
  /** Whether a file, by its path below the searched folder, is wanted at all. */
  wanted(path: string): boolean;
}

/** The hit that is being put together: lines after it join it until they are nearer to the next. */
interface OpenHit {
  readonly line: number;
  readonly start_line: number;
  readonly lines: string[];
}

/** Turns verified lines into hits. Every line of a file stands in one snippet at most: context that two hits share is not told twice. */
export function createCollector(found: Found<Hit>, verifier: Verifier, options: CollectorOptions) {
  let path: Buffer | undefined;
  let file: (VerifiedFile & { readonly hits: FileHits<Hit> }) | undefined;
  let hit: OpenHit | undefined;
  let before: { readonly line: number; readonly text: string }[] = [];
  /** Files whose lines were not what ripgrep said: changed meanwhile, in another encoding, or exchanged. */
  const doubtful: Buffer[] = [];

  function take(record: LineRecord): void {
    if (record.path !== path) nextFile(record.path);
    if (!file) return;
    if (file.holds(record)) addLine(record);
    else doubt();
  }

  function addLine(record: LineRecord): void {
    const text = shownLine(record, options.max_line_chars);
    if (record.match === -1) {
      if (hit && record.line - hit.line <= options.context_lines) hit.lines.push(text);
      else before.push({ line: record.line, text });
      return;
    }
    closeHit();
    hit = {
      line: record.line,
      start_line: before[0]?.line ?? record.line,
      lines: [...before.map((one) => one.text), text],
    };
    before = [];
  }

  function closeHit(): void {
    if (!hit || !file) return;
    const snippet = hit.lines.join("\n");
    const start = hit.start_line === hit.line ? {} : { start_line: hit.start_line };
    found.add(file.hits, { path: file.shown, line: hit.line, snippet, ...start }, snippet.length + file.shown.length);
    hit = undefined;
  }

  function nextFile(next: Buffer): void {
    end();
    path = next;
    const name = next.subarray(2);
    if (!options.wanted(name.toString())) return;
    const opened = verifier.open(name);
    if (opened) file = Object.assign(opened, { hits: found.begin(name) });
  }

  function doubt(): void {
    doubtful.push(path!.subarray(2));
    found.forget(file!.hits);
    hit = undefined;
    before = [];
    end();
  }

  function end(): void {
    closeHit();
    before = [];
    file?.[Symbol.dispose]();
    file = undefined;
  }

  return {
    take,
    end,
    doubtful,
    /** Lines of a descriptor that was opened and verified before it was searched. */
    takeFrom(source: VerifiedFile, name: Buffer): (record: LineRecord) => void {
      file = Object.assign(source, { hits: found.begin(name) });
      return (record) => {
        if (file) addLine(record);
      };
    },
  };
}
