import { visible } from "../../base/text.ts";
import type { PolicyOption } from "./options.ts";
import { denied } from "./policy/judge.ts";

/** Arguments of project code are free, since a sandbox holds it; an operator can narrow them. */
export function narrowed(name: string, option: PolicyOption | undefined, args: readonly string[]): readonly string[] {
  if (!option) return args;
  const end = args.indexOf("--");
  const flags = (end < 0 ? args : args.slice(0, end)).filter((word) => word.startsWith("-") && word !== "-");
  const first = args.find((word) => !word.startsWith("-"));
  if (option.subcommands && (first === undefined || !option.subcommands.includes(first)))
    throw denied(
      name,
      `${name} ${visible(first ?? "")} is not an allowed subcommand.`,
      `Allowed: ${option.subcommands.join(" ")}`,
    );
  const allowed = option.allow_flags.map(bareName);
  for (const flag of flags) {
    if (option.deny_flags.some((rule) => isFlag(flag, bareName(rule))))
      throw denied(name, `${name} ${visible(flag)} is denied.`);
    if (allowed.length > 0 && !allowed.some((rule) => flag === rule || flag.startsWith(`${rule}=`)))
      throw denied(name, `${name} ${visible(flag)} is not an allowed flag.`);
  }
  return args;
}

function bareName(flag: string): string {
  return flag.replace(/[=[].*$/, "");
}

/** `--flag`, `--flag=x`, `-f`, `-fx` and `-xf` are one. */
function isFlag(word: string, name: string): boolean {
  if (word === name || word.startsWith(`${name}=`)) return true;
  const isShort = /^-[^-]$/.test(name) && /^-[^-]/.test(word);
  return isShort && (word.startsWith(name) || (/^-[A-Za-z]+$/.test(word) && word.includes(name[1]!)));
}
