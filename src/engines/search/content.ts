import { shownLine } from "./cut.ts";
import type { FileHits, Found, Hit } from "./found.ts";
import { parentOf, type Quiet } from "./quiet.ts";
import type { LineRecord } from "./records.ts";
import type { VerifiedFile, Verifier } from "./verified.ts";

interface CollectorOptions {
  readonly context_lines: number;
  readonly max_line_chars: number;
  /** Whether a file, by its path below the searched folder, is wanted at all. */
  wanted(path: string): boolean;
  /** Where it is quiet, what ripgrep says is taken as it is, and judged once more at the end. */
  readonly quiet: Quiet | undefined;
}

interface OpenFile extends Pick<VerifiedFile, "shown" | "holds"> {
  readonly hits: FileHits<Hit>;
  readonly close: (() => void) | undefined;
}

/** The hit that is being put together: lines after it join it until they are nearer to the next. */
interface OpenHit {
  readonly line: number;
  readonly start_line: number;
  readonly lines: string[];
}

/** Turns verified lines into hits. Every line of a file stands in one snippet at most: context that two hits share is not told twice. */
export function createCollector(
  found: Found<Hit>,
  verifier: Pick<Verifier, "open" | "admitted">,
  options: CollectorOptions,
) {
  let path: Buffer | undefined;
  let file: OpenFile | undefined;
  let hit: OpenHit | undefined;
  let before: { readonly line: number; readonly text: string }[] = [];
  /** Files whose lines were not what ripgrep said: changed meanwhile, in another encoding, or exchanged. */
  const doubtful: Buffer[] = [];
  const trusted: { readonly name: Buffer; readonly hits: FileHits<Hit> }[] = [];

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
    if (options.quiet?.isQuiet(parentOf(name))) {
      const shown = verifier.admitted(name);
      if (shown === undefined) return;
      file = { shown, holds: () => true, hits: found.begin(name), close: undefined };
      trusted.push({ name, hits: file.hits });
    } else file = opened(verifier.open(name), name);
  }

  function opened(source: VerifiedFile | undefined, name: Buffer): OpenFile | undefined {
    if (!source) return undefined;
    const { shown, holds } = source;
    return { shown, holds, hits: found.begin(name), close: () => source[Symbol.dispose]() };
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
    file?.close?.();
    file = undefined;
  }

  return {
    take,
    end,
    /** After ripgrep has ended: the files that must be searched again, by their descriptors. */
    doubtful(): readonly Buffer[] {
      options.quiet?.refresh();
      for (const { name, hits } of trusted.splice(0)) {
        if (options.quiet?.isQuiet(parentOf(name))) continue;
        found.forget(hits);
        doubtful.push(name);
      }
      return doubtful;
    },
    /** Lines of a descriptor that was opened and verified before it was searched. */
    takeFrom(source: VerifiedFile, name: Buffer): (record: LineRecord) => void {
      file = opened(source, name);
      return (record) => {
        if (file) addLine(record);
      };
    },
  };
}
