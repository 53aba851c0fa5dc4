/** Other names that a call may use. Never listed; callable wherever their tool is. */
const RENAMED: Readonly<Record<string, string>> = {
  "00_INIT": "llmc_init",
  linux_fs_mkdir: "linux_fs_mkdirs",
  rag_query: "rag_search",
  "rag.search": "rag_search",
  "rag.bootload": "rag_bootload",
};

/** The tool that a name means: `linux.fs_read` is `linux_fs_read`, `linux.fs_mkdir` is `linux_fs_mkdirs`. */
export function canonicalName(name: string): string {
  const plain = name.startsWith("linux.") ? `linux_${name.slice(6)}` : name;
  return RENAMED[plain] ?? plain;
}

/** Every alias of a tool, for tests and documents. */
export function aliasesOf(tool: string): string[] {
  const renamed = Object.keys(RENAMED).filter((alias) => RENAMED[alias] === tool);
  const dotted = [tool, ...renamed].filter((name) => name.startsWith("linux_")).map((name) => `linux.${name.slice(6)}`);
  return [...renamed, ...dotted];
}
