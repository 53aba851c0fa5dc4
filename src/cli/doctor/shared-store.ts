import type { App } from "../../app.ts";
import { asFault } from "../../base/fault.ts";
import type { Finding } from "../findings.ts";
import { storeState } from "../store.ts";

/** Where the state of replicas lives, and whether it answers and fits. */
export async function storeFindings(app: App, signal: AbortSignal): Promise<Finding[]> {
  const told = (level: Finding["level"], text: string): Finding[] => [{ level, about: "store", text }];
  if (!app.shared) return told("ok", "SQLite in the state folder: for one machine");
  try {
    await app.shared.ready(signal);
    const states = await storeState(app.shared);
    const newer = states.filter(({ there, known }) => there > known).map(({ part }) => part);
    if (newer.length > 0) return told("error", `PostgreSQL has newer schemas (${newer.join(", ")}): use a newer llmc.`);
    const older = states.filter(({ there, known }) => there < known).map(({ part }) => part);
    if (older.length > 0) return told("warning", `PostgreSQL answers; llmc store migrate for ${older.join(", ")}`);
    return told("ok", "PostgreSQL answers, all schemas fit");
  } catch (error) {
    const { message, hint } = asFault(error);
    return told("error", [message, hint].filter(Boolean).join(" "));
  }
}
