/** A command that ended, as an enricher sees it: text without colours. */
export interface Ran {
  /** The program's name and its arguments as they were asked for. */
  readonly argv: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
  /** Lines of stdout, also those that were not kept. */
  readonly lines: number;
  /** Of a flood only the beginning, the end and what looks like trouble is here. */
  readonly condensed: boolean;
}

export interface Digest {
  readonly text: string;
  /** Where the command looked for something: how often it was found. */
  readonly match_count?: number;
  /** The digest speaks for stderr too. */
  readonly covers_stderr?: boolean;
}

/** A pure function from what happened to what a model needs of it; undefined when the output is not of its kind. */
export type Enrich = (ran: Ran, room: number) => Digest | undefined;
