import type { Mode } from "./modes.ts";

/** The few sentences a model gets before it calls anything: how to use what the mode lists, and only that. */
export function instructionsFor(mode: Pick<Mode, "name" | "direct" | "nested">): string {
  const listed = new Set(mode.direct.map((tool) => tool.name));
  const nested = new Set(mode.nested.map((tool) => tool.name));
  const parts = [
    "Paths start at the repository root.",
    nested.has("read_file") && "Long or late results are handles (res_…): read_file takes them as path.",
    listed.has("linux_fs_edit") && "Edit with linux_fs_edit, create with linux_fs_write.",
    listed.has("execute_code") &&
      'execute_code: await tools.<name>({...}) calls any tool (Python: no await); tools.search("words"), tools.help("name") find them. Print only what you need. Files persist only through linux_fs_write.',
    mode.name === "classic" &&
      nested.has("linux_search_content") &&
      "Prefer linux_search_content to grep, linux_fs_read for slices.",
  ];
  return parts.filter((part) => part !== false).join(" ");
}
