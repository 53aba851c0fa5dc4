import { Fault } from "../../../base/fault.ts";
import { nearest, visible } from "../../../base/text.ts";
import type { FlagTable, ValueKind } from "./flags.ts";
import type { Grammar, Judged, PathArgument } from "./types.ts";

export interface CompiledGrammar extends Omit<Grammar, "flags"> {
  readonly table: FlagTable;
}

interface Words {
  readonly flags: { readonly name: string; readonly kind: ValueKind; readonly value?: string }[];
  readonly operands: string[];
  /** How many operands stood before `--`; undefined without one. */
  dashes?: number;
}

/** Reads arguments by a grammar, refuses what it does not name, and writes them down again in one form, so that the program reads what we read. */
export function judge(
  who: string,
  grammar: CompiledGrammar,
  args: readonly string[],
  hidden: readonly string[] = [],
): Judged {
  if (grammar.style === "words") return judgeWords(who, grammar, args);
  if (grammar.style === "plain") return { args, paths: [], rule: `${who} text` };
  const words = readGetopt(who, grammar, args);
  checkOperands(who, grammar, words);
  const flags = words.flags.filter((flag) => flag.name !== grammar.cwd_flag);
  const written = flags.flatMap((flag) => write(flag));
  const excluded = (grammar.exclude ?? []).flatMap((form) => hidden.map((name) => form.replace("{}", name)));
  const tail = operandTail(grammar, words);
  const cwd = words.flags.findLast((flag) => flag.name === grammar.cwd_flag)?.value;
  return {
    args: [...(grammar.before ?? []), ...written, ...excluded, ...(grammar.after ?? []), ...tail],
    paths: [...flagPaths(words), ...operandPaths(grammar, words)],
    rule: `${who} flags`,
    ...(cwd === undefined ? {} : { cwd }),
  };
}

function readGetopt(who: string, grammar: CompiledGrammar, args: readonly string[]): Words {
  const words: Words = { flags: [], operands: [] };
  const kinds = grammar.table.kinds;
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!;
    if (words.dashes !== undefined || word === "-" || !word.startsWith("-")) {
      words.operands.push(word);
      continue;
    }
    if (word === "--") {
      words.dashes = words.operands.length;
      continue;
    }
    if (grammar.table.numbers && /^-\d{1,9}$/.test(word)) {
      words.flags.push({ name: word, kind: "none" });
      continue;
    }
    const following = () => {
      const value = args[++at];
      if (value === undefined) throw new Fault("invalid_args", `${who} ${visible(word)} needs a value.`);
      return value;
    };
    if (word.startsWith("--")) words.flags.push(longFlag(who, kinds, word, following));
    else words.flags.push(...shortFlags(who, kinds, word, following));
  }
  return words;
}

function longFlag(
  who: string,
  kinds: ReadonlyMap<string, ValueKind>,
  word: string,
  following: () => string,
): Words["flags"][number] {
  const equals = word.indexOf("=");
  const name = equals < 0 ? word : word.slice(0, equals);
  const kind = kinds.get(name);
  if (kind === undefined) throw unknownFlag(who, name, kinds);
  if (equals >= 0) {
    if (kind === "none") throw denied(who, `${who} ${name} takes no value.`);
    return { name, kind, value: checkedValue(who, name, kind, word.slice(equals + 1)) };
  }
  if (kind === "none" || kind === "attached") return { name, kind };
  return { name, kind, value: checkedValue(who, name, kind, following()) };
}

/** `-rnA3` is -r, -n and -A with 3. */
function shortFlags(
  who: string,
  kinds: ReadonlyMap<string, ValueKind>,
  word: string,
  following: () => string,
): Words["flags"] {
  const flags: Words["flags"] = [];
  for (let at = 1; at < word.length; at++) {
    const name = `-${word[at]}`;
    const kind = kinds.get(name);
    if (kind === undefined) throw unknownFlag(who, name, kinds);
    const rest = word.slice(at + 1);
    if (kind === "none") {
      flags.push({ name, kind });
      continue;
    }
    if (kind === "attached") {
      flags.push(rest === "" ? { name, kind } : { name, kind, value: rest });
      return flags;
    }
    flags.push({ name, kind, value: checkedValue(who, name, kind, rest === "" ? following() : rest) });
    return flags;
  }
  return flags;
}

function judgeWords(who: string, grammar: CompiledGrammar, args: readonly string[]): Judged {
  const kinds = grammar.table.kinds;
  const paths: PathArgument[] = [];
  const written: string[] = [];
  let inExpression = false;
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!;
    if (/^[(),!]$/.test(word)) {
      inExpression = true;
      written.push(word);
      continue;
    }
    if (!word.startsWith("-")) {
      if (inExpression)
        throw denied(who, `${who}: ${visible(word)} stands after the expression began.`, "Paths come first.");
      paths.push({ text: word, certain: true });
      // A name that find could take for an operator keeps its meaning as a path.
      written.push(word);
      continue;
    }
    inExpression = true;
    const kind = kinds.get(word);
    if (kind === undefined) throw unknownFlag(who, word, kinds);
    written.push(word);
    if (kind === "none") continue;
    const value = args[++at];
    if (value === undefined) throw new Fault("invalid_args", `${who} ${word} needs a value.`);
    written.push(checkedValue(who, word, kind, value));
    if (kind === "path") paths.push({ text: value, certain: true });
  }
  return { args: [...(grammar.before ?? []), ...written], paths, rule: `${who} flags` };
}

function checkOperands(who: string, grammar: CompiledGrammar, words: Words): void {
  const { operands } = words;
  const has = (names: readonly string[]) => words.flags.some((flag) => names.includes(flag.name));
  if (grammar.need_one_of && !has(grammar.need_one_of))
    throw denied(who, `${who} is allowed only with ${grammar.need_one_of.join(" or ")}.`);
  if (operands.length > 0 && grammar.operands_need_one_of && !has(grammar.operands_need_one_of))
    throw denied(who, `${who} with arguments is allowed only with ${grammar.operands_need_one_of.join(" or ")}.`);
  const most = (grammar.operands ?? "none") === "none" ? 0 : (grammar.max_operands ?? 10_000);
  if (operands.length > most)
    throw denied(
      who,
      most === 0 ? `${who} takes no arguments besides flags here.` : `${who} takes at most ${most} here.`,
    );
  if (grammar.no_dashes && operands.some((word) => word.startsWith("-") && word !== "-"))
    throw denied(who, `${who} cannot take a word that begins with a dash here.`);
  const first = operands[0] ?? "";
  if (grammar.first_operand && !grammar.first_operand.test(first))
    throw denied(who, `${who} ${visible(first)} is not among what is allowed.`);
  if (grammar.first_operand_not?.test(first)) throw denied(who, `${who} ${visible(first)} is not allowed.`);
}

function operandPaths(grammar: CompiledGrammar, words: Words): PathArgument[] {
  const kind = grammar.operands ?? "none";
  if (kind === "refs") return words.operands.map((text) => ({ text, certain: false }));
  if (kind === "paths") return words.operands.filter((text) => text !== "-").map((text) => ({ text, certain: true }));
  if (kind !== "pattern paths") return [];
  const inFlags = words.flags.some((flag) => grammar.pattern_in_flags?.includes(flag.name));
  return words.operands
    .slice(inFlags ? 0 : 1)
    .filter((text) => text !== "-")
    .map((text) => ({ text, certain: true }));
}

function flagPaths(words: Words): PathArgument[] {
  return words.flags.filter((flag) => flag.kind === "path").map((flag) => ({ text: flag.value!, certain: true }));
}

function write(flag: Words["flags"][number]): string[] {
  if (flag.value === undefined) return [flag.name];
  if (flag.name.startsWith("--")) return [`${flag.name}=${flag.value}`];
  return flag.kind === "attached" ? [flag.name + flag.value] : [flag.name, flag.value];
}

function operandTail(grammar: CompiledGrammar, words: Words): string[] {
  if (grammar.operands === "refs") return refTail(words);
  if (words.operands.length === 0) return [];
  return grammar.no_dashes ? words.operands : ["--", ...words.operands];
}

/** Refs stay before `--` and pathspecs after it, as the caller put them: git tells them apart by it. */
function refTail(words: Words): string[] {
  if (words.dashes === undefined) return [...words.operands];
  return [...words.operands.slice(0, words.dashes), "--", ...words.operands.slice(words.dashes)];
}

function checkedValue(who: string, name: string, kind: ValueKind, value: string): string {
  if (kind === "int" && !/^[-+]?\d{1,12}$/.test(value))
    throw new Fault("invalid_args", `${who} ${name} needs a number.`);
  return value;
}

function unknownFlag(who: string, name: string, kinds: ReadonlyMap<string, ValueKind>): Fault {
  const close = name.length > 2 ? nearest(name, kinds.keys()) : undefined;
  return denied(who, `${who} ${visible(name)} is not an allowed flag.`, close ? `Did you mean ${close}?` : undefined);
}

export function denied(who: string, message: string, hint?: string): Fault {
  return new Fault("command_denied", message, {
    hint: hint ?? `An operator can change this in [mcp.tools.policy.${who.split(" ")[0]}].`,
    rule: `${who} flags`,
  });
}
