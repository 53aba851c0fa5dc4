const KNOWN = /<!-- proof -->[\s\S]*<!-- \/proof -->/;
const TITLE = "# Benchmarks\n";

/** The page with this section in place of its last one, or below its title. The section's text may hold what a replacement reads as a pattern. */
export function withSection(page: string, text: string): string {
  const section = `<!-- proof -->\n${text}\n<!-- /proof -->`;
  return KNOWN.test(page) ? page.replace(KNOWN, () => section) : page.replace(TITLE, () => `${TITLE}\n${section}\n`);
}
