import { readFileSync } from "node:fs";

export const PROTOCOL_REVISIONS = ["2025-06-18", "2025-11-25", "2026-07-28"] as const;

export function ownVersion(): string {
  const file = new URL("../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
