import { Fault } from "../../base/fault.ts";

/** What a te command line asks for. */
export type TeAsk =
  | { readonly ask: "run"; readonly raw: boolean; readonly json: boolean; readonly words: readonly string[] }
  | { readonly ask: "handle"; readonly json: boolean; readonly handle: string; readonly chunk: number | undefined }
  | { readonly ask: "list" | "stats" | "help" | "version"; readonly json: boolean };

/** The words after `te`. Ours come first; from the first word that is none of them on it is the command. */
export function parseTe(words: readonly string[]): TeAsk {
  let raw = false;
  let json = false;
  let handle: string | undefined;
  let chunk: number | undefined;
  let ask: "list" | "stats" | "help" | "version" | undefined;
  let index = 0;
  for (; index < words.length; index++) {
    const [word, attached] = split(words[index]!);
    const value = () => attached ?? words[++index] ?? missing(word);
    if (word === "--json") json = true;
    else if (word === "-i" || word === "--raw") raw = true;
    else if (word === "--handle") handle = value();
    else if (word === "--chunk") chunk = chunkOf(value());
    else if (word === "--list-handles") ask = "list";
    else if (word === "--stats") ask = "stats";
    else if (word === "--help" || word === "-h") ask = "help";
    else if (word === "--version") ask = "version";
    else break;
  }
  if (words[index] === "--") index++;
  const rest = words.slice(index);
  if (rest[0]?.startsWith("-"))
    throw new Fault("invalid_args", `te has no option ${rest[0]}.`, { hint: "te --help lists them." });
  if (handle !== undefined) return { ask: "handle", json, handle, chunk };
  if (ask) return { ask, json };
  if (chunk !== undefined) throw new Fault("invalid_args", "--chunk needs --handle.");
  return rest.length === 0 ? { ask: "help", json } : { ask: "run", raw, json, words: rest };
}

function split(word: string): [string, string | undefined] {
  const match = /^(--(?:handle|chunk))=(.*)$/s.exec(word);
  return match ? [match[1]!, match[2]!] : [word, undefined];
}

function chunkOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Fault("invalid_args", "--chunk takes a number, counted from 0.");
}

function missing(word: string): never {
  throw new Fault("invalid_args", `${word} needs a value.`);
}

/** A command as run_cmd takes it. */
interface Asked {
  readonly command?: string | undefined;
  readonly argv?: readonly string[] | undefined;
}

/** What a command that begins with `te` asks for; undefined for every other. A command line stays one: it is split by the gate. */
export function teAsk(
  asked: Asked,
): Exclude<TeAsk, { ask: "run" }> | (Asked & { ask: "run"; raw: boolean }) | undefined {
  const line = asked.command === undefined ? undefined : /^\s*te(?:\s+(.*))?$/s.exec(asked.command);
  if (line) {
    const rest = line[1] ?? "";
    const own = /^(?:-{1,2}[\w-]+(?:=\S+)?(?:\s+|$))*/.exec(rest)![0];
    const flags = own.split(/\s+/).filter(Boolean);
    if (flags.some((flag) => /^--(handle|chunk)/.test(flag)))
      return asQuestion(parseTe(rest.split(/\s+/).filter(Boolean)));
    const parsed = parseTe(rest.length > own.length ? [...flags, "command"] : flags);
    return parsed.ask === "run" ? { ask: "run", raw: parsed.raw, command: rest.slice(own.length) } : parsed;
  }
  if (asked.argv?.[0] !== "te") return undefined;
  const parsed = parseTe(asked.argv.slice(1));
  return parsed.ask === "run" ? { ask: "run", raw: parsed.raw, argv: parsed.words } : parsed;
}

function asQuestion(parsed: TeAsk): Exclude<TeAsk, { ask: "run" }> {
  if (parsed.ask !== "run") return parsed;
  throw new Fault("invalid_args", "te takes a command, or --handle, not both.");
}
