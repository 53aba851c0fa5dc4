import { countTokens } from "../../core/tokens.ts";
import type { Look } from "./look.ts";

/** What an agent is told about this repository, from what is there. Meant to be rewritten by people. */
export function agentsText(look: Look): string {
  return page(`# ${look.name}`, [
    look.about,
    section(
      "Commands",
      look.commands.map(([command, about]) => `\`${command}\`: ${about}`),
    ),
    section(
      "Where things are",
      look.folders.map((folder) => `\`${folder}/\``),
    ),
    section("Rules", [
      "Read the code around a change first, and write as it is written.",
      "Small changes, one idea each. Run the tests before you say that it is done.",
      "What others rely on is in CONTRACTS.md: ask before you change it.",
      "No secrets in code, logs or commits.",
    ]),
  ]);
}

export function contractsText(look: Look): string {
  return page(`# What others rely on in ${look.name}`, [
    "Names, formats and promises that cannot change without telling those who use them.",
    section(
      "Interfaces",
      look.contracts.length > 0 ? look.contracts : ["Commands, endpoints, formats, tables: name them here."],
    ),
    section("Environment", [
      "What runs this, in which versions.",
      "What it needs at run time: variables, services, permissions.",
    ]),
    section("Promises", ["What must hold after every change, and which test shows it."]),
  ]);
}

function page(title: string, parts: readonly string[]): string {
  return `${[title, ...parts.filter((part) => part !== "")].join("\n\n")}\n`;
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `## ${title}\n\n${lines.map((line) => `- ${line}`).join("\n")}`;
}

/** The same page for a model that pays for every word: no comments, no blank lines, no code blocks, and an end. */
export function sidecarText(page: string, max_tokens = 400): string {
  const lines = page
    .replace(/<!--[\s\S]*?-->|```[\s\S]*?```/g, "")
    .split(/\r?\n/)
    .map((line) => line.trimEnd().replace(/^#+ /, "# "))
    .filter((line) => line.trim() !== "" && !/^\[?!\[/.test(line.trim()));
  const kept: string[] = [];
  let left = max_tokens;
  for (const line of lines) {
    left -= countTokens(line) + 1;
    if (left < 0) break;
    kept.push(line);
  }
  return `${kept.join("\n")}\n`;
}
