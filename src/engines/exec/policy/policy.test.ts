import { describe, expect, it } from "vitest";
import { fc } from "../../../../tests/harness/random.ts";
import { Fault } from "../../../base/fault.ts";
import { READERS } from "../names.ts";
import { splitCommand } from "../split.ts";
import { compilePolicy } from "./compile.ts";
import { parseFlags } from "./flags.ts";
import { createPolicies, RULES } from "./index.ts";
import type { Grammar, Rule } from "./types.ts";

const option = (more: object) => ({ allow_flags: [], deny_flags: [], ...more });

describe("the built-in policies", () => {
  it("cover every reader, once", () => {
    expect(RULES.map((rule) => rule.name).sort()).toEqual([...READERS].sort());
  });

  it.each(RULES.map((rule) => [rule.name, rule] as const))("%s holds against its own examples", (_name, rule) => {
    expect(rule.allows.length).toBeGreaterThan(0);
    if (rule.style !== "plain") expect(rule.refuses.length).toBeGreaterThan(0);
    expect(() => compilePolicy(rule)).not.toThrow();
  });

  it("refuse to load when an example does not hold", () => {
    const rule: Rule = { name: "x", flags: "-a", operands: "paths", allows: ["x -a f"], refuses: ["x -b"] };
    expect(() => compilePolicy(rule)).not.toThrow();
    expect(() => compilePolicy({ ...rule, allows: ["x -b"] })).toThrow(/refuses its own example: x -b/);
    expect(() => compilePolicy({ ...rule, refuses: ["x -a"] })).toThrow(/allows what it must refuse: x -a/);
  });
});

describe("an operator", () => {
  it("adds and takes away flags", () => {
    const policies = createPolicies({
      rg: option({ allow_flags: ["--hyperlink-format="], deny_flags: ["--json", "-u"] }),
    });
    const rg = policies("rg")!;
    expect(rg.judge(["--hyperlink-format", "x", "y"]).args).toContain("--hyperlink-format=x");
    expect(() => rg.judge(["--json", "x"])).toThrow(/--json/);
    expect(() => rg.judge(["-uu", "x"])).toThrow(/-u/);
  });

  it("narrows or extends subcommands", () => {
    const git = createPolicies({ git: option({ subcommands: ["status", "fetch"] }) })("git")!;
    expect(git.judge(["status", "-s"]).rule).toBe("git status flags");
    expect(git.judge(["fetch", "origin"]).args.slice(-2)).toEqual(["fetch", "origin"]);
    expect(() => git.judge(["fetch", "--upload-pack=x"])).toThrow(/not an allowed flag/);
    expect(() => git.judge(["log"])).toThrow(/not an allowed subcommand/);
  });

  it("makes a reader of a command we do not know", () => {
    const tool = createPolicies({ tool: option({ class: "reader", allow_flags: ["-v", "--in=path"] }) })("tool")!;
    expect(tool.judge(["-v", "--in", "a", "b"])).toMatchObject({
      args: ["-v", "--in=a", "--", "b"],
      paths: [{ text: "a" }, { text: "b" }],
    });
    expect(() => tool.judge(["-x"])).toThrow(Fault);
  });
});

describe("arguments", () => {
  const policies = createPolicies({});
  it.each([
    ["grep", "-rnA3 x .", ["-r", "-n", "-A", "3", "--", "x", "."]],
    ["grep", "x -r . -n", ["-r", "-n", "--", "x", "."]],
    ["grep", "--context 3 -e x y", ["--context=3", "-e", "x", "--", "y"]],
    ["head", "-5 a", ["-5", "--", "a"]],
    ["sort", "-t, -k2 a", ["-t", ",", "-k", "2", "--", "a"]],
    ["cat", "-- -x", ["--", "-x"]],
  ])("%s %s are read and written down in one form", (name, text, args) => {
    expect(policies(name)!.judge(splitCommand(text)).args).toEqual(args);
  });

  it("names the paths among them", () => {
    expect(
      policies("grep")!
        .judge(["x", "a", "b"])
        .paths.map((path) => path.text),
    ).toEqual(["a", "b"]);
    expect(
      policies("grep")!
        .judge(["-e", "x", "a"])
        .paths.map((path) => path.text),
    ).toEqual(["a"]);
    expect(
      policies("find")!
        .judge(["a", "-newer", "b"])
        .paths.map((path) => path.text),
    ).toEqual(["a", "b"]);
  });
});

/** Grammars that a word of the argument list can fall under. */
function grammars(rule: Rule): Grammar[] {
  return [rule, ...Object.values(rule.subcommands ?? {})];
}

describe("a fuzz of each policy", () => {
  const judged = RULES.filter((rule) => rule.style !== "plain");
  it.each(judged.map((rule) => [rule.name, rule] as const))("%s lets through only words it names", (name, rule) => {
    const policy = createPolicies({})(name)!;
    const known = new Map(grammars(rule).flatMap((grammar) => [...parseFlags(grammar.flags ?? "").kinds]));
    const ours = new Set(grammars(rule).flatMap((grammar) => [...(grammar.before ?? []), ...(grammar.after ?? [])]));
    const hostile = rule.refuses.flatMap((example) => splitCommand(example).slice(1));
    const word = fc.oneof(
      fc.constantFrom(...known.keys(), ...Object.keys(rule.subcommands ?? {}), ...hostile, "--", "-", "a", "1"),
      fc
        .tuple(fc.constantFrom(...known.keys(), ...hostile, "-x"), fc.constantFrom("=x", "=", "x", "1"))
        .map((parts) => parts.join("")),
      fc.string({ maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (args) => {
        let out: readonly string[];
        try {
          out = policy.judge(args).args;
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          return;
        }
        let isValue = false;
        for (const each of out) {
          if (each === "--" && !isValue) break;
          if (isValue || !each.startsWith("-") || each === "-" || ours.has(each) || /^-\d+$/.test(each)) {
            isValue = false;
            continue;
          }
          const bare = each.startsWith("--") || rule.style === "words" ? each.replace(/=.*$/s, "") : each;
          const kind = known.get(bare) ?? (each.startsWith("--") ? undefined : known.get(each.slice(0, 2)));
          expect(kind, `${each} in ${JSON.stringify(out)}`).toBeDefined();
          isValue = kind !== "none" && kind !== "attached" && !(each.startsWith("--") && each.includes("="));
        }
      }),
      { numRuns: 300 },
    );
  });
});
