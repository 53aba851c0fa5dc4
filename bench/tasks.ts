import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { connect } from "../tests/harness/client.ts";
import { row } from "./lib/servers.ts";
import { TASKS, writeTaskProject } from "./lib/tasks.ts";

/** Eight ordinary tasks over stdio, in two modes: tokens of the definitions once, and of every request and answer. */
for (const mode of ["hybrid", "code_execution"] as const) {
  const root = mkdtempSync(join(tmpdir(), "llmc-tasks-"));
  writeTaskProject(root);
  await using server = await connect(root, "2025-11-25", ["--mode", mode]);
  const { tools } = await server.client.listTools();
  const definitions = countTokens(JSON.stringify(tools)) + countTokens(server.client.getInstructions() ?? "");
  let total = definitions;
  let done = 0;
  console.log(`\n${mode}`);
  row("", "request", "answer", "done");
  row("definitions", "", String(definitions), "");
  for (const task of TASKS) {
    let [request, answer, answers] = [0, 0, ""];
    for (const { name, args } of task[mode]) {
      const { text } = await server.call(name, args);
      request += countTokens(JSON.stringify({ name, arguments: args }));
      answer += countTokens(text);
      answers += text;
    }
    const ok = task.done(answers, root);
    if (ok) done++;
    total += request + answer;
    row(task.name, String(request), String(answer), ok ? "yes" : "NO");
    if (!ok || process.argv.includes("--show")) console.log(answers);
  }
  row("total", "", String(total), `${done}/8`);
  rmSync(root, { recursive: true, force: true });
}
