import type { Bed } from "../harness/bed.ts";

interface Ran {
  stdout: string;
  stderr: string;
  result: unknown;
  exit_code: number;
  limit?: { name: string };
  tool_calls: Record<string, number>;
}

/** Code in an interpreter of its own, without a session. */
export const run = (bed: Bed, language: "javascript" | "python", code: string) =>
  bed.payload<Ran>("execute_code", { language, code, session_id: "none" });

export const files = { "a.txt": "one\ntwo\n", "sub/b.txt": "three\n" };
