/** A hit as callers see it. `start_line` is where the snippet begins, when context comes before the hit. */
export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly snippet: string;
  readonly start_line?: number;
}

export interface FileHits<T> {
  /** Sorts as `--sort path` does: by bytes, name by name. */
  readonly key: string;
  readonly hits: T[];
}

/** What a search keeps, however much there is to find. */
const MAX_FOUND_BYTES = 8 * 1024 ** 2;
/** What a hit takes besides its text. */
const HIT_BYTES = 100;

/** All that was found, file by file, up to the limits. */
export interface Found<T> {
  readonly count: number;
  readonly isFull: boolean;
  /** False when there is no room for it. */
  add(file: FileHits<T>, hit: T, bytes: number): boolean;
  begin(name: Buffer): FileHits<T>;
  forget(file: FileHits<T>): void;
  sorted(): T[];
}

export function createFound<T>(max_count: number): Found<T> {
  const files = new Map<string, FileHits<T>>();
  let count = 0;
  let bytes = 0;
  let isFull = false;
  return {
    get count() {
      return count;
    },
    get isFull() {
      return isFull;
    },
    add(file, hit, size) {
      if (count >= max_count || bytes + size + HIT_BYTES > MAX_FOUND_BYTES) {
        isFull = true;
        return false;
      }
      file.hits.push(hit);
      count++;
      bytes += size + HIT_BYTES;
      return true;
    },
    begin(name) {
      const key = sortKey(name);
      const file = { key, hits: [] };
      files.set(key, file);
      return file;
    },
    forget(file) {
      count -= file.hits.length;
      files.delete(file.key);
    },
    sorted() {
      const inOrder = [...files.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
      return inOrder.flatMap((file) => file.hits);
    },
  };
}

function sortKey(name: Buffer): string {
  return name.toString("latin1").replaceAll("/", "\0");
}

/** The ordered beginning of a search, and behind it what else was found: each hit once. */
export function joined<T>(beginning: readonly T[], rest: readonly T[], identity: (hit: T) => string): T[] {
  const seen = new Set(beginning.map(identity));
  return [...beginning, ...rest.filter((hit) => !seen.has(identity(hit)))];
}

/** A JSON list with one hit a line: whole it parses, and a page of lines can be read by itself. */
export async function* asJsonLines(hits: readonly unknown[]): AsyncGenerator<Uint8Array> {
  const SOME = 500;
  for (let from = 0; from < hits.length; from += SOME) {
    const some = hits.slice(from, from + SOME).map((hit) => JSON.stringify(hit));
    yield Buffer.from(`${from === 0 ? "[" : ",\n"}${some.join(",\n")}`);
  }
  yield Buffer.from(hits.length === 0 ? "[]\n" : "]\n");
}
