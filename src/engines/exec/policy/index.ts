import type { PolicyOption } from "../options.ts";
import { type CompiledPolicy, compilePolicy } from "./compile.ts";
import { git } from "./git.ts";
import { listing } from "./listing.ts";
import { text } from "./text.ts";
import type { Rule } from "./types.ts";

export type { CompiledPolicy } from "./compile.ts";
export type { Judged, PathArgument } from "./types.ts";

/** The argument policies of all readers. */
export const RULES: readonly Rule[] = [git, ...listing, ...text];

/** Compiles on first use and remembers: a session uses few of them. */
export function createPolicies(
  options: Readonly<Record<string, PolicyOption>>,
): (name: string) => CompiledPolicy | undefined {
  const rules = new Map(RULES.map((rule) => [rule.name, rule]));
  const compiled = new Map<string, CompiledPolicy>();
  return (name) => {
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    const rule = rules.get(name) ?? (option?.class === "reader" ? operatorRule(name, option) : undefined);
    if (!rule || (option?.class !== undefined && option.class !== "reader")) return undefined;
    let policy = compiled.get(name);
    if (!policy) compiled.set(name, (policy = compilePolicy(rule, option)));
    return policy;
  };
}

/** A reader that only the operator knows: the operator's flags, and operands that are paths. */
function operatorRule(name: string, option: PolicyOption): Rule {
  const base: Rule = { name, operands: "paths", allows: [], refuses: [] };
  return option.subcommands ? { ...base, operands: "none", subcommands: {} } : base;
}
