import { Fault } from "../../../base/fault.ts";
import { nearest, visible } from "../../../base/text.ts";
import type { PolicyOption } from "../options.ts";
import { splitCommand } from "../split.ts";
import { adjusted, parseFlags } from "./flags.ts";
import { type CompiledGrammar, denied, judge } from "./judge.ts";
import type { Grammar, Judged, Rule } from "./types.ts";

export interface CompiledPolicy {
  readonly name: string;
  readonly walled: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** Throws a Fault that names the rule, or gives the arguments to run with. `hidden` are names a recursive walk must not read. */
  judge(args: readonly string[], hidden?: readonly string[]): Judged;
}

/** A rule with an operator's changes. The rule as written is held against its own examples first. */
export function compilePolicy(rule: Rule, option?: PolicyOption): CompiledPolicy {
  checkExamples(rule);
  return build(rule, option);
}

function build(rule: Rule, option?: PolicyOption): CompiledPolicy {
  const own = compileGrammar(rule, rule.subcommands ? undefined : option);
  const subcommands = rule.subcommands ? compileSubcommands(rule, option) : undefined;
  return {
    name: rule.name,
    walled: rule.walled ?? false,
    env: rule.env ?? {},
    judge(args, hidden) {
      if (!subcommands) return judge(rule.name, own, args, hidden);
      return judgeSubcommand(rule.name, own, subcommands, args, hidden);
    },
  };
}

function compileGrammar(grammar: Grammar, option?: PolicyOption): CompiledGrammar {
  const { flags, ...rest } = grammar;
  const table = adjusted(parseFlags(flags ?? ""), option?.allow_flags ?? [], option?.deny_flags ?? []);
  return { ...rest, table };
}

function compileSubcommands(rule: Rule, option?: PolicyOption): Map<string, CompiledGrammar> {
  const names = option?.subcommands ?? Object.keys(rule.subcommands!);
  return new Map(
    names.map((name) => {
      // One that the operator adds has no flags but those the operator allows.
      const grammar = Object.hasOwn(rule.subcommands!, name)
        ? rule.subcommands![name]!
        : ({ operands: "refs" } as const);
      return [name, compileGrammar(grammar, option)];
    }),
  );
}

/** `git [flags of git] status [flags of status] …`: both halves are judged, each by its own grammar. */
function judgeSubcommand(
  who: string,
  own: CompiledGrammar,
  subcommands: Map<string, CompiledGrammar>,
  args: readonly string[],
  hidden?: readonly string[],
): Judged {
  const split = subcommandAt(own, args);
  const front = judge(who, own, args.slice(0, split));
  const name = args[split];
  if (name === undefined) {
    if (args.includes("--version")) return front;
    throw denied(who, `${who} needs a subcommand.`, `Allowed: ${[...subcommands.keys()].join(" ")}`);
  }
  const grammar = subcommands.get(name);
  if (!grammar) {
    const close = nearest(name, subcommands.keys());
    throw new Fault("command_denied", `${who} ${visible(name)} is not an allowed subcommand.`, {
      hint: close ? `Did you mean ${close}?` : `Allowed: ${[...subcommands.keys()].join(" ")}`,
      rule: `${who} subcommands`,
    });
  }
  const back = judge(`${who} ${name}`, grammar, args.slice(split + 1), hidden);
  return {
    args: [...front.args, name, ...back.args],
    paths: [...front.paths, ...back.paths],
    rule: back.rule,
    ...(front.cwd === undefined ? {} : { cwd: front.cwd }),
  };
}

function subcommandAt(own: CompiledGrammar, args: readonly string[]): number {
  let at = 0;
  while (at < args.length && args[at]!.startsWith("-")) {
    const kind = own.table.kinds.get(args[at]!);
    at += kind === "text" || kind === "int" || kind === "path" ? 2 : 1;
  }
  return Math.min(at, args.length);
}

function checkExamples(rule: Rule): void {
  const policy = build(rule);
  const allowed = (example: string): boolean => {
    try {
      policy.judge(splitCommand(example).slice(1));
      return true;
    } catch (error) {
      if (error instanceof Fault) return false;
      throw error;
    }
  };
  for (const example of rule.allows)
    if (!allowed(example)) throw new Error(`policy of ${rule.name}: refuses its own example: ${example}`);
  for (const example of rule.refuses)
    if (allowed(example)) throw new Error(`policy of ${rule.name}: allows what it must refuse: ${example}`);
}
