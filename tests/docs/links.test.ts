import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { PAGES, ROOT, textOf } from "./pages.ts";

const LINK = /(?<!!)\[[^\]]*\]\(([^)\s]+)\)/g;

/** As the viewers of Markdown make them. */
function anchorsOf(page: string): Set<string> {
  const headings = textOf(page)
    .replace(/```[\s\S]*?```/g, "")
    .matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replaceAll(" ", "-"),
    ),
  );
}

describe("links", () => {
  it.each(PAGES)("of %s lead somewhere", (page) => {
    const prose = textOf(page)
      .replace(/```[\s\S]*?```/g, "")
      .replace(/`[^`\n]*`/g, "");
    for (const [, target] of prose.matchAll(LINK)) {
      if (/^https?:/.test(target!)) {
        expect(URL.canParse(target!), target).toBe(true);
        continue;
      }
      const [path, anchor] = target!.split("#") as [string, string?];
      const file = path === "" ? page : join(dirname(page), path);
      expect(existsSync(join(ROOT, file)), `${page} -> ${target}`).toBe(true);
      if (anchor !== undefined && statSync(join(ROOT, file)).isFile())
        expect(anchorsOf(file).has(anchor), `${page} -> ${target}`).toBe(true);
    }
  });

  it("reach every page from the README", () => {
    const seen = new Set<string>();
    const visit = (page: string) => {
      if (seen.has(page) || !page.endsWith(".md") || !existsSync(join(ROOT, page))) return;
      seen.add(page);
      for (const [, target] of textOf(page).matchAll(LINK))
        if (!/^https?:/.test(target!)) visit(join(dirname(page), target!.split("#")[0]!));
    };
    visit("README.md");
    expect(PAGES.filter((page) => !seen.has(page) && page !== "AGENTS.md")).toEqual([]);
  });
});
