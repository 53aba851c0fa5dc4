import type { App } from "../../app.ts";
import type { Loaded } from "../../config/load.ts";
import { type Finding, gateFindings, rootFindings, stateFindings } from "../findings.ts";
import { clientFindings } from "./clients.ts";
import type { Patient } from "./patient.ts";
import { gitFinding, nodeFinding, ripgrepFinding } from "./programs.ts";
import { modelFindings, portFinding } from "./servers.ts";
import { storeFindings } from "./shared-store.ts";
import { indexFindings, runtimeFindings, sqliteFindings } from "./stores.ts";

type Check = (patient: Patient) => readonly Finding[] | Promise<readonly Finding[]>;

/** In the order in which they are told: what the rest stands on comes first. */
export const CHECKS: readonly (readonly [about: string, check: Check])[] = [
  ["node", () => [nodeFinding()]],
  ["config", ({ loaded, app }) => configFindings(loaded, app)],
  ["roots", ({ loaded }) => rootFindings(loaded)],
  ["state", ({ loaded }) => stateFindings(loaded)],
  ["ripgrep", ({ loaded, signal }) => ripgrepFinding(loaded.env["PATH"] ?? "", signal)],
  ["git", ({ loaded, signal }) => gitFinding(loaded.env["PATH"] ?? "", signal)],
  ["commands", ({ app }) => gateFindings(app)],
  ["sandbox", runtimeFindings],
  ["sqlite", ({ loaded }) => sqliteFindings(loaded.state_dir)],
  ["store", ({ app, signal }) => storeFindings(app, signal)],
  ["index", ({ app }) => indexFindings(app)],
  ["port", ({ loaded, signal }) => portFinding(loaded.config.mcp.server, signal)],
  ["models", ({ loaded, signal }) => modelFindings(loaded.config, signal)],
  ["clients", ({ terminal, loaded }) => clientFindings(terminal, loaded.root)],
];

function configFindings(loaded: Loaded, app: App): Finding[] {
  const named = loaded.file ?? "no llmc.toml: defaults. llmc init writes one";
  const off: Finding[] = loaded.config.mcp.enabled
    ? []
    : [{ level: "warning", about: "config", text: "mcp.enabled is false: llmc serve will refuse." }];
  return [
    { level: "ok", about: "config", text: named },
    {
      level: "ok",
      about: "mode",
      text: `${app.mode.name}: ${app.tools().length} tools listed, ${app.mode.nested.length} callable`,
    },
    ...off,
    ...app.warnings().map((text): Finding => ({ level: "warning", about: "config", text })),
  ];
}
