import { createApp } from "../app.ts";
import type { Loaded } from "../config/load.ts";
import type { Invocation } from "./command.ts";
import {
  type Finding,
  failed,
  findingLine,
  gateFindings,
  indexFinding,
  rootFindings,
  stateFindings,
} from "./findings.ts";
import { loadFor } from "./where.ts";

/** 0: all well. 1: something must be mended. Warnings alone do not fail. */
export async function run(invocation: Invocation): Promise<number> {
  const findings = await validate(invocation);
  const { out } = invocation.terminal;
  if (invocation.flags["json"])
    out(`${JSON.stringify({ ok: findings.every(({ level }) => level !== "error"), findings }, null, 2)}\n`);
  else for (const finding of findings) out(findingLine(finding, 9, invocation.terminal));
  return findings.some(({ level }) => level === "error") ? 1 : 0;
}

async function validate(invocation: Invocation): Promise<Finding[]> {
  let loaded: Loaded;
  try {
    loaded = loadFor(invocation);
  } catch (error) {
    return [failed("config", error)];
  }
  const findings: Finding[] = [
    { level: "ok", about: "root", text: `${loaded.root} (by ${loaded.root_by})` },
    { level: "ok", about: "config", text: loaded.file ?? "no llmc.toml: defaults, hybrid mode" },
    ...rootFindings(loaded),
    ...stateFindings(loaded),
  ];
  if (!loaded.config.mcp.enabled)
    findings.push({ level: "warning", about: "mcp", text: "mcp.enabled is false: llmc serve will refuse." });
  try {
    const app = createApp(loaded);
    findings.push({
      level: "ok",
      about: "mode",
      text: `${app.mode.name}: ${app.tools().length} tools listed, ${app.mode.nested.length} callable`,
    });
    for (const warning of app.warnings()) findings.push({ level: "warning", about: "config", text: warning });
    findings.push(...(await gateFindings(app)), await indexFinding(app));
    await app.close();
  } catch (error) {
    findings.push(failed("start", error));
  }
  return findings;
}
