import { readFileSync } from "node:fs";

export interface Recipe {
  readonly title: string;
  readonly javascript: string;
  readonly python: string;
}

/** The recipes as they stand in the document. */
export function readRecipes(): Recipe[] {
  const page = readFileSync(new URL("../../docs/code-mode.md", import.meta.url), "utf8");
  return page
    .split(/^### /m)
    .slice(1)
    .map((section) => ({
      title: section.slice(0, section.indexOf("\n")),
      javascript: /```javascript\n([\s\S]*?)```/.exec(section)![1]!,
      python: /```python\n([\s\S]*?)```/.exec(section)![1]!,
    }));
}
