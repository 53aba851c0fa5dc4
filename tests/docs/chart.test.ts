import { readFileSync } from "node:fs";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { TASKS, writeTaskProject } from "../../bench/lib/tasks.ts";
import { connect } from "../harness/client.ts";
import { temp } from "../harness/temp.ts";

const results = JSON.parse(readFileSync(new URL("../../bench/results/tasks.json", import.meta.url), "utf8")) as {
  rows: { name: string; tokens: number }[];
};

describe("the chart of the README", () => {
  it.each(["hybrid", "code_execution"] as const)(
    "has our tokens of the eight tasks in %s as they are now",
    async (mode) => {
      using folder = temp();
      writeTaskProject(folder.path);
      await using server = await connect(folder.path, "2025-11-25", ["--mode", mode]);
      const { tools } = await server.client.listTools();
      let total = countTokens(JSON.stringify(tools)) + countTokens(server.client.getInstructions() ?? "");
      let done = 0;
      for (const task of TASKS) {
        let answers = "";
        for (const { name, args } of task[mode]) {
          const { text } = await server.call(name, args);
          total += countTokens(JSON.stringify({ name, arguments: args })) + countTokens(text);
          answers += text;
        }
        if (task.done(answers, folder.path)) done++;
      }
      const { tokens } = results.rows.find(({ name }) => name === `LLMC, ${mode}`)!;
      expect(done).toBe(8);
      expect(Math.abs(total - tokens) / tokens, `${total} now, ${tokens} in the chart`).toBeLessThan(0.05);
    },
  );
});
