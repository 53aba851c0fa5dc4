import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Temp extends Disposable {
  readonly path: string;
}

/** A folder of the test's own, gone with it. */
export function temp(): Temp {
  const path = mkdtempSync(join(tmpdir(), "llmc-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
