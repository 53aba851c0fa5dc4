/** What each tool's answer costs a model, in both formats, on one small project. `node bench/answers.ts [--show]` */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { createBed } from "../tests/harness/bed.ts";
import { row } from "./lib/servers.ts";

const SOURCE = `import { clamp } from "./clamp.ts";\n\n/** Keeps a share between none and all. */\nexport function share(part: number, whole: number): number {\n  return clamp(part / whole, 0, 1);\n}\n`;
const FILES = {
  "src/share.ts": SOURCE,
  "src/clamp.ts":
    "export function clamp(value: number, low: number, high: number): number {\n  return Math.min(high, Math.max(low, value));\n}\n",
  "src/edit.ts": "const before = 1;\n",
  "src/old.ts": "const old = 1;\n",
  "test_share.py": "def test_ok():\n    assert True\n\ndef test_bad():\n    assert 1 == 2\n",
  "README.md": "# Shares\n\nHow a share is clamped.\n",
};
const CALLS: readonly (readonly [string, Record<string, unknown>])[] = [
  ["read_file", { path: "src/share.ts" }],
  ["list_dir", { path: "src" }],
  ["stat", { path: "src/share.ts" }],
  ["linux_fs_read", { path: "src/share.ts" }],
  ["linux_fs_list", { path: "src" }],
  ["linux_fs_write", { path: "new.txt", content: "x\n" }],
  ["linux_fs_edit", { path: "src/edit.ts", old_text: "before", new_text: "after" }],
  ["linux_fs_mkdirs", { path: "made/deep" }],
  ["linux_fs_move", { source: "src/old.ts", target: "src/older.ts" }],
  ["linux_fs_delete", { path: "src/older.ts" }],
  ["linux_search_files", { root: ".", pattern: "*.ts" }],
  ["linux_search_content", { root: ".", pattern: "clamp" }],
  ["repo_read", { root: ".", path: "README.md" }],
  [
    "repo_write_patch",
    {
      patch:
        "--- a/README.md\n+++ b/README.md\n@@ -1,3 +1,3 @@\n # Shares\n \n-How a share is clamped.\n+How a share is kept.\n",
    },
  ],
  ["run_cmd", { command: "rg -n clamp src" }],
  ["te_run", { command: "rg -n clamp src" }],
  ["run_pytest", {}],
  ["linux_proc_start", { command: "node -e 1", wait_s: 1 }],
  ["linux_proc_list", { max_results: 3 }],
  ["linux_sys_snapshot", {}],
  ["rag_search", { q: "where is a share clamped" }],
  ["rag_search_enriched", { q: "where is a share clamped" }],
  ["rag_where_used", { symbol: "clamp" }],
  ["rag_lineage", { symbol: "share" }],
  ["inspect", { symbol: "clamp" }],
  ["rag_plan", { query: "change how clamp works" }],
  ["rag_stats", {}],
  ["rag_bootload", { session_id: "s", task_id: "t" }],
  ["execute_code", { language: "javascript", code: "1 + 1" }],
  ["create_session", { language: "javascript", session_id: "bench" }],
  ["get_active_sessions", {}],
  ["get_workspace_info", { session_id: "bench" }],
  ["reset_workspace", { session_id: "bench" }],
  ["destroy_session", { session_id: "bench" }],
  ["list_runtimes", {}],
  ["list_available_packages", { language: "javascript" }],
  ["maasl_locks", {}],
  ["health", {}],
  ["get_metrics", {}],
];

row("tokens of the answer", "json", "lean");
let [all_json, all_lean] = [0, 0];
const tokens = new Map<string, number[]>();
for (const mode of ["classic", "hybrid"] as const) {
  await using bed = createBed({ files: FILES, cli: { "mcp.mode": mode } });
  for (const [name, args] of CALLS) {
    const text = await bed.text(name, args);
    tokens.set(name, [...(tokens.get(name) ?? []), countTokens(text)]);
    if (process.argv.includes("--show")) console.log(`\n${mode} ${name}\n${text}`);
  }
}
for (const [name, [json, lean]] of tokens) {
  row(name, String(json), String(lean));
  all_json += json!;
  all_lean += lean!;
}
row("all of them", String(all_json), String(all_lean));
