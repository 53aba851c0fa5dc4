import type { Chat } from "./model-server.ts";

/**
 * A model that is a program: as the root it reads the task and what its code printed, and writes real code for the family of the
 * task; as the sub model it reads the text in its prompt. It knows nothing that is not in its messages.
 */
export function programmaticModel({ system, messages, prompt }: Chat): string {
  if (!system.includes("only through code")) return readText(prompt);
  const opening = messages[0]!.content;
  const task = /^Task: ([\s\S]*?)\n\ncontext: /.exec(opening)![1]!;
  const family = FAMILIES.find(({ asked }) => asked.test(task));
  if (!family) return "I do not know how to do this.";
  const turn = messages.filter(({ role }) => role === "assistant").length;
  // The first look is at the text itself, as a careful reader would.
  if (turn === 0)
    return `I look at it first.\n\n${fenced(family.language, family.language === "python" ? "print(peek(0, 120))" : "print(peek(0, 120))")}`;
  return `Now the work.\n\n${fenced(family.language, family.code(family.asked.exec(task)!, prompt))}`;
}

function fenced(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``;
}

interface Family {
  readonly asked: RegExp;
  readonly language: "javascript" | "python";
  code(asked: RegExpExecArray, printed: string): string;
}

const FAMILIES: readonly Family[] = [
  {
    asked: /code word of (\w+)/,
    language: "javascript",
    code: ([, name]) => `
const [hit] = search("The code word of ${name} is ");
if (!hit) print("not found");
else answer(/The code word of ${name} is (\\S+)\\./.exec(hit.text)[1]);`,
  },
  {
    asked: /sum of all magic numbers/,
    language: "python",
    code: () => `
import re
hits = search(re.compile(r"magic number: (\\d+)"), max=100000)
answer(sum(int(re.search(r"magic number: (\\d+)", hit["text"]).group(1)) for hit in hits))`,
  },
  {
    // What a line is about takes a reader: each chunk goes to a model.
    asked: /how many of the remarks are complaints/,
    language: "javascript",
    code: () => `
const parts = chunks(6000);
const slots = await llm_query_batch(parts.map((part) => "Count the complaints.\\n" + part.text));
const failed = slots.filter((slot) => typeof slot !== "string");
if (failed.length > 0) print("failed", failed[0]);
else await answer(slots.reduce((sum, slot) => sum + Number(slot), 0));`,
  },
  {
    asked: /which people share a city and a trade with (\w+)/,
    language: "python",
    code: ([, who]) => `
import re
city, trade = {}, {}
for found in re.finditer(r"^(\\w+) (lives in|works as) (\\S+)\\s*$", context, re.MULTILINE):
    (city if found[2] == "lives in" else trade)[found[1]] = found[3]
key = (city.get("${who}"), trade.get("${who}"))
answer(sorted(p for p in city if p != "${who}" and (city[p], trade.get(p)) == key))`,
  },
  {
    // A fact may lie across two chunks: they overlap by more than a fact is long.
    asked: /password that is spelled out in full/,
    language: "javascript",
    code: () => `
const parts = chunks(5000, 400);
const slots = await llm_query_batch(parts.map((part) => "Which password is spelled out?\\n" + part.text));
await answer(slots.find((slot) => slot !== "none") ?? "none");`,
  },
  {
    asked: /what does the function (\w+) return/,
    language: "javascript",
    code: ([, name]) => `
const source = await symbol("${name}");
answer(await llm_query("What does this return?\\n" + source));`,
  },
  {
    asked: /summary of every part of the book/,
    language: "javascript",
    code: () => `
const parts = chunks(Math.ceil(context.length / 2));
const words = [];
for (const part of parts) words.push(await rlm_query("What is the code word of Falcon?", part.text).catch((error) => error.code));
answer(words.join(" "));`,
  },
];

/** Reads what it is given, and nothing else: a prompt of its own code, or a task with a short text. */
function readText(prompt: string): string {
  const [, task = prompt, text = prompt] = /^Task: (.*)\n[\s\S]*?<<<\w+\n([\s\S]*)\n\w+>>>$/.exec(prompt) ?? [];
  const lines = text.split(/\r?\n/);
  const found = (pattern: RegExp) => pattern.exec(text)?.[1];
  if (/complaints/.test(task))
    return String(lines.filter((line) => /\b(broken|late|rude|wrong|cold)\b/.test(line)).length);
  if (/password/.test(task)) return found(/password[^:]*:\s*((?:[a-z]-)+[a-z])\b/)?.replaceAll("-", "") ?? "none";
  if (/sum of all magic numbers/.test(task))
    return String(lines.reduce((sum, line) => sum + Number(/magic number: (\d+)/.exec(line)?.[1] ?? 0), 0));
  if (/^What does this return/.test(task)) return found(/return "([^"]*)"/) ?? "nothing";
  const wanted = /function (\w+) return/.exec(task)?.[1];
  if (wanted !== undefined) return found(new RegExp(`function ${wanted}\\b[^}]*return "([^"]*)"`)) ?? "nothing";
  const who = /share a city and a trade with (\w+)/.exec(task)?.[1];
  if (who !== undefined) return JSON.stringify(alike(lines, who));
  const name = /code word of (\w+)/.exec(task)?.[1];
  return found(new RegExp(`The code word of ${name} is (\\S+)\\.`)) ?? "none";
}

function alike(lines: readonly string[], who: string): string[] {
  const of = (verb: string) =>
    new Map(
      lines.flatMap((line) =>
        line.split(` ${verb} `).length === 2 ? [line.split(` ${verb} `) as [string, string]] : [],
      ),
    );
  const [city, trade] = [of("lives in"), of("works as")];
  const same = (name: string) => city.get(name) === city.get(who) && trade.get(name) === trade.get(who);
  return [...city.keys()].filter((name) => name !== who && same(name)).sort();
}
