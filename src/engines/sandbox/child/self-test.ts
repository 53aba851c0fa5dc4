import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import type { SelfTest } from "./protocol.ts";

/** Tries to leave, and tells what worked. The server compares it with what the level of isolation promises. */
export function selfTest(): SelfTest {
  return {
    reads_outside:
      works(() => readFileSync("/etc/passwd")) ||
      works(() => readdirSync("/root")) ||
      works(() => readdirSync("/home")),
    writes: works(() => writeFileSync(`/tmp/llmc-self-test-${process.pid}`, "")),
    spawns: works(() => {
      const made = process.getBuiltinModule("node:child_process").spawnSync("/bin/true");
      if (made.error) throw made.error;
    }),
    // Bubblewrap itself says where it stands.
    environment: Object.keys(process.env).some((name) => name !== "PWD"),
    network: Object.values(networkInterfaces()).some((list) => list?.some(({ internal }) => !internal)),
  };
}

function works(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}
