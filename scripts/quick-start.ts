import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { journey, transcript } from "../tests/first-run/journey.ts";

/** Writes the transcript of docs/quick-start.md: a real run from an empty folder, with the packed package. */
const PAGE = "docs/quick-start.md";
const [START, END] = ["<!-- transcript -->", "<!-- /transcript -->"];

const folder = mkdtempSync(join(tmpdir(), "llmc-quick-start-"));
try {
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder]);
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"))!;
  const made = await journey(folder, join(folder, tarball));
  const page = readFileSync(PAGE, "utf8");
  const text = `${START}\n\n\`\`\`text\n${transcript(made)}\n\`\`\`\n\n`;
  writeFileSync(PAGE, page.slice(0, page.indexOf(START)) + text + page.slice(page.indexOf(END)));
  console.log(`${made.seconds.toFixed(0)} s, ${made.first_call.tools.length} tools listed`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
