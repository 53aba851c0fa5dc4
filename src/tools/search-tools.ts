import type { Tool } from "../core/tool.ts";

const MOST = 8;

/** The tools whose name and description share most with the words, best first. */
export function searchTools(tools: readonly Tool[], words: string): Tool[] {
  const wanted = stems(words);
  const scored = tools.map((tool) => {
    const inName = stems(tool.name.replaceAll("_", " "));
    const inText = stems(`${tool.title} ${tool.description} ${Object.keys(tool.input.shape).join(" ")}`);
    const score = wanted.reduce(
      (sum, word) => sum + (inName.includes(word) ? 3 : 0) + (inText.includes(word) ? 1 : 0),
      0,
    );
    return { tool, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST)
    .map(({ tool }) => tool);
}

/** Words without their endings, and what people say for them. */
const MEANS = new Map(
  Object.entries({
    folder: "dir",
    directory: "dir",
    find: "search",
    grep: "search",
    change: "edit",
    replace: "edit",
    create: "write",
    save: "write",
    execut: "run",
    shell: "run",
    command: "cmd",
    test: "pytest",
    process: "proc",
    remove: "delete",
    rename: "move",
  }),
);

function stems(text: string): string[] {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  return words.flatMap((word) => {
    const stem = word.replace(/(ing|es|s|ed|e)$/, "");
    const meant = MEANS.get(word) ?? MEANS.get(stem);
    return meant === undefined ? [stem] : [stem, meant.replace(/(e)$/, "")];
  });
}
