/** A call that a model would make. `server`: which of a bundle's servers, the first when it is not said. */
export interface Step {
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly server?: number;
  /** Waited for before it is sent, so that one answer is enough: nobody pays for asking too early. */
  readonly wait_ms?: number;
}

/** A call that needs what the calls before it answered, or none when they answered enough. */
export type NextStep = Step | ((answers: string) => Step | undefined);

/** What a server is asked for, whatever it calls it. One that is missing cannot be done with this server. */
export interface Operations {
  read?(path: string): NextStep[];
  readLines?(path: string, from: number, count: number): NextStep[];
  stat?(path: string): NextStep[];
  list?(path: string): NextStep[];
  /** Files of the project to a depth, without what is vendored. */
  layout?(depth: number): NextStep[];
  write?(path: string, content: string): NextStep[];
  /** Replaces every occurrence; there are so many. */
  replace?(path: string, old_text: string, new_text: string, count: number): NextStep[];
  /** Lines with a text, in files that are not ignored, and so many lines after each. */
  search?(text: string, after: number): NextStep[];
  /** The first so many lines with a text. */
  searchPage?(text: string, max: number): NextStep[];
  /** A command line. `shell`: one for sh; servers without a shell have no such operation. */
  run?(command: string): NextStep[];
  shell?(command: string): NextStep[];
}

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** A server to compare with. To add one, write a file like its neighbours and name it in index.ts. */
export interface Peer {
  readonly name: string;
  /** npm packages at exact versions, a server each. */
  readonly packages: readonly { readonly name: string; readonly version: string; readonly bin: string }[];
  /** Versions that its dependencies are held to, where the one they ask for cannot be had. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** Arguments of each server. */
  args(root: string, server: number): readonly string[];
  /** Settings it reads from its home: telemetry off, this root allowed. */
  prepare?(home: string, root: string): void;
  operations(root: string): Operations;
}
