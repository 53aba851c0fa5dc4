/** The same calls over every transport, by canonical name and by alias. */
export const TABLE: readonly (readonly [string, Record<string, unknown>, string?])[] = [
  ["read_file", { path: "a.txt" }],
  ["read_file", { path: "../outside" }],
  ["list_dir", { path: "." }],
  ["stat", { path: "a.txt" }],
  ["linux_fs_read", { path: "a.txt", offset_lines: 1, max_lines: 1 }, "linux.fs_read"],
  ["linux_search_content", { root: ".", pattern: "two" }, "linux.search_content"],
  ["linux_search_files", { root: ".", pattern: "a.t" }, "linux.search_files"],
  ["linux_fs_mkdirs", { path: "sub" }, "linux_fs_mkdir"],
  ["llmc_init", {}, "00_INIT"],
  ["stat", { pth: "a.txt" }],
  ["nothing", {}],
];

/** What differs from call to call. */
export function stable(text: string): string {
  return text
    .replace(/"correlation_id":"[0-9a-f]+"/g, '"correlation_id":"…"')
    .replace(/res_[0-9a-z]+/g, "res_…")
    .replace(/"mtime":"[^"]+"/g, "mtime")
    .replace(/"duration_ms":[\d.]+/g, "ms")
    .replace(/"(uid|gid)":\d+/g, "$1");
}
