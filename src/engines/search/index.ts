/** Search by ripgrep: streamed, bounded, ordered, and held against the files themselves before it is told. */
import { closeSync } from "node:fs";
import { Fault } from "../../base/fault.ts";
import { pin, type Roots, reopen, type SafePath } from "../../base/path/index.ts";
import { contentArgv, descriptorArgv, filesArgv, type Query, type Scope } from "./argv.ts";
import { findRipgrep, type Ripgrep } from "./binary.ts";
import { createCollector } from "./content.ts";
import { windowFor } from "./cut.ts";
import { asJsonLines, createFound, type Found, type Hit, joined } from "./found.ts";
import { compileGlob, type Glob } from "./glob.ts";
import { createNames, nameFilter } from "./names.ts";
import type { SearchOptions } from "./options.ts";
import { createQuiet } from "./quiet.ts";
import { createRecords } from "./records.ts";
import { judge, runRipgrep } from "./run.ts";
import { type Exclusions, exclusions } from "./scope.ts";
import { createVerifier, type VerifiedFile } from "./verified.ts";

export { findRipgrep } from "./binary.ts";
export type { Hit } from "./found.ts";
export { type SearchOptions, searchOptions } from "./options.ts";

export interface FileHit {
  readonly path: string;
}

export interface FilesQuery {
  readonly root: SafePath;
  readonly pattern: string;
  readonly file_glob?: string | undefined;
  readonly max_results: number;
}

export interface ContentQuery extends FilesQuery, Query {}

export interface Result<T> {
  /** The first hits in order: by path, then line. */
  readonly hits: readonly T[];
  readonly total_hits: number;
  readonly total_hits_is_lower_bound: boolean;
  readonly truncated: boolean;
  /** What the caller should know: a slower engine, folders that could not be read. */
  readonly warning: string | undefined;
  /** All that was found, as a JSON list with one hit a line. */
  everything(): AsyncIterable<Uint8Array>;
}

export interface Search {
  files(query: FilesQuery, signal: AbortSignal): Promise<Result<FileHit>>;
  content(query: ContentQuery, signal: AbortSignal): Promise<Result<Hit>>;
}

interface SearchDeps {
  readonly roots: Roots;
  readonly state_dir: string;
  /** Where an installed `rg` is looked for. */
  readonly path: string;
  /** Overrides what is found, best first. */
  readonly ripgrep?: readonly Ripgrep[];
}

interface Where {
  readonly cwd?: string;
  readonly stdin?: number;
}

interface Trouble {
  readonly unreadable: number;
  readonly changed?: number;
}

/** Files that are searched once more by their descriptor, when what was reported does not stand in them. */
const MAX_AGAIN = 64;
const NOTHING = { open: () => undefined, admitted: () => undefined };

export function createSearch(options: SearchOptions, deps: SearchDeps): Search {
  let engines: Ripgrep[] | undefined;

  /** Runs on the best engine that starts; it is the first one asked the next time. */
  async function run(
    argv: readonly string[],
    where: Where,
    signal: AbortSignal,
    take: (chunk: Buffer) => "enough" | undefined,
  ) {
    engines ??= [...(deps.ripgrep ?? findRipgrep(deps.path))];
    for (const rg of engines) {
      try {
        const ran = await runRipgrep(rg, argv, { ...where, tmp_dir: deps.state_dir, signal }, take);
        if (rg !== engines[0]) engines = engines.toSorted((a, b) => Number(b === rg) - Number(a === rg));
        return judge(ran);
      } catch (error) {
        if (!["ENOENT", "EACCES", "ENOEXEC"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      }
    }
    throw new Fault("internal_error", "No ripgrep can be started here.", {
      hint: "Install ripgrep, or the npm package @vscode/ripgrep.",
    });
  }

  /** In parallel while all hits fit; when they do not, the page is taken again in order, and no more than the page. */
  async function search<T>(
    query: FilesQuery,
    signal: AbortSignal,
    identity: (hit: T) => string,
    pass: (found: Found<T>, sorted: boolean, signal: AbortSignal) => Promise<Trouble>,
  ): Promise<Result<T>> {
    const found = createFound<T>(options.count_limit);
    const trouble = await pass(found, false, signal);
    let all = found.sorted();
    if (found.isFull) {
      const page = createFound<T>(query.max_results);
      await pass(page, true, signal);
      all = joined(page.sorted(), all, identity);
    }
    return {
      hits: all.slice(0, query.max_results),
      total_hits: all.length,
      total_hits_is_lower_bound: found.isFull,
      truncated: found.isFull || all.length > query.max_results,
      warning: warning(engines?.[0]?.slow ?? false, trouble),
      everything: () => asJsonLines(all),
    };
  }

  function scopeOf({ globs, in_repository }: Exclusions, names: Glob["names"], sorted: boolean): Scope {
    return { options, excluded: globs, names, in_repository, sorted };
  }

  return {
    async files(query, signal) {
      using folder = pin(deps.roots, query.root);
      if (!folder.stat.isDirectory()) throw new Fault("not_a_directory", `${folder.shown} is not a folder.`);
      const excluded = exclusions(options, query.root.root, folder.real, deps.state_dir);
      const glob = globOf(query.file_glob);
      using verifier = createVerifier(deps.roots, folder, query.root);
      const filter = nameFilter(query.pattern, glob);
      return await search<FileHit>(
        query,
        signal,
        (hit) => hit.path,
        async (found, sorted, until) => {
          const argv = filesArgv(scopeOf(excluded, glob?.names, sorted));
          const names = createNames(found, {
            roots: deps.roots,
            folder,
            asked: query.root,
            verifier,
            filter,
            hides: excluded.hides,
          });
          return run(argv, { cwd: folder.proc }, until, (chunk) => {
            names.push(chunk);
            return found.isFull ? "enough" : undefined;
          });
        },
      );
    },

    async content(query, signal) {
      if (query.pattern.includes("\0")) throw new Fault("invalid_args", "The pattern holds a NUL character.");
      // It would reach ripgrep as another character, and be told as no hits.
      if (!query.pattern.isWellFormed()) throw new Fault("invalid_args", "The pattern holds half of a surrogate pair.");
      using place = pin(deps.roots, query.root);
      const glob = globOf(query.file_glob);
      const window = windowFor(options.max_line_chars);
      const identity = (hit: Hit) => `${hit.line}:${hit.path}`;
      const shape = { context_lines: query.context_lines, max_line_chars: options.max_line_chars };

      /** One file, by a descriptor that was verified before anything was read from it. */
      async function descriptor(
        file: VerifiedFile,
        name: Buffer,
        collector: ReturnType<typeof createCollector>,
        found: Found<Hit>,
        until: AbortSignal,
      ) {
        const records = createRecords(window, collector.takeFrom(file, name));
        const ran = await run(descriptorArgv(query), { stdin: file.fd }, until, (chunk) => {
          records.push(chunk);
          return found.isFull ? "enough" : undefined;
        });
        collector.end();
        return ran;
      }

      if (!place.stat.isDirectory()) {
        if (!place.stat.isFile())
          throw new Fault("path_denied", `${place.shown} is neither a folder nor a regular file.`);
        return await search<Hit>(query, signal, identity, async (found, _sorted, until) => {
          const fd = reopen(place);
          const file = { fd, shown: place.shown, holds: () => true, [Symbol.dispose]: () => closeSync(fd) };
          const collector = createCollector(found, NOTHING, { ...shape, wanted: () => true, quiet: undefined });
          return await descriptor(file, Buffer.from(place.real), collector, found, until);
        });
      }

      const excluded = exclusions(options, query.root.root, place.real, deps.state_dir);
      using verifier = createVerifier(deps.roots, place, query.root);
      const wanted = (path: string) => (glob?.matches(path) ?? true) && !excluded.hides(path);
      return await search<Hit>(query, signal, identity, async (found, sorted, until) => {
        const collector = createCollector(found, verifier, { ...shape, wanted, quiet: createQuiet(place) });
        const records = createRecords(window, collector.take);
        const argv = contentArgv(query, scopeOf(excluded, glob?.names, sorted));
        try {
          const ran = await run(argv, { cwd: place.proc }, until, (chunk) => {
            records.push(chunk);
            return found.isFull ? "enough" : undefined;
          });
          collector.end();
          const doubtful = collector.doubtful();
          for (const name of doubtful.slice(0, MAX_AGAIN)) {
            const file = found.isFull ? undefined : verifier.open(name);
            if (file) await descriptor(file, name, collector, found, until);
          }
          return { ...ran, changed: Math.max(0, doubtful.length - MAX_AGAIN) };
        } finally {
          collector.end();
        }
      });
    },
  };
}

function globOf(text: string | undefined): Glob | undefined {
  return text === undefined || text === "" ? undefined : compileGlob(text, { nocase: false });
}

function warning(isSlow: boolean, { unreadable, changed = 0 }: Trouble): string | undefined {
  const told = [
    ...(isSlow ? ["No ripgrep binary here: the slower wasm build searched."] : []),
    ...(unreadable > 0 ? [`${unreadable} files or folders could not be read.`] : []),
    ...(changed > 0 ? [`${changed} files changed while they were searched and are left out.`] : []),
  ];
  return told.length === 0 ? undefined : told.join(" ");
}
