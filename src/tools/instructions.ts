import type { Mode } from "./modes.ts";

/** The few sentences a model gets before it calls anything: how to use what the mode lists, and only that. */
export function instructionsFor(mode: Pick<Mode, "name" | "direct" | "nested">): string {
  const listed = new Set(mode.direct.map((tool) => tool.name));
  const nested = new Set(mode.nested.map((tool) => tool.name));
  const parts = [
    "Paths start at the repository root.",
    nested.has("read_file") && "A long or late result is a handle (res_…): read_file takes it as path.",
    listed.has("linux_fs_edit") && "Change files with linux_fs_edit, create with linux_fs_write.",
    listed.has("run_cmd") && "run_cmd runs one program, no shell.",
    listed.has("execute_code") &&
      'execute_code: tools.<name>({...}) calls every tool, tools.search("…") finds one; its files do not persist.',
    mode.name === "classic" &&
      nested.has("linux_search_content") &&
      "Prefer linux_search_content to running grep, linux_fs_read for slices of long files.",
  ];
  return parts.filter((part) => part !== false).join(" ");
}
