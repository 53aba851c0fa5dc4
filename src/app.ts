import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Fault } from "./base/fault.ts";
import { createRoots, type Roots } from "./base/path/index.ts";
import { createShared, type SharedStore } from "./base/store/shared.ts";
import { nearest } from "./base/text.ts";
import type { Loaded } from "./config/load.ts";
import type { Engines, Health, ServerFacts } from "./core/context.ts";
import { type Call, createDispatch, type Dispatch } from "./core/dispatch.ts";
import { prepareState, refuseLinkedState } from "./core/state.ts";
import { countTokens } from "./core/tokens.ts";
import type { Tool } from "./core/tool.ts";
import { execWarnings } from "./engines/exec/options.ts";
import { createTelemetry, type Telemetry } from "./engines/telemetry/index.ts";
import { canonicalName } from "./tools/aliases.ts";
import { makeExecutables } from "./tools/executables.ts";
import { TOOLS } from "./tools/index.ts";
import { instructionsFor } from "./tools/instructions.ts";
import { type Mode, selectMode } from "./tools/modes.ts";
import { createResources, type Resources } from "./tools/resources.ts";
import { searchTools } from "./tools/search-tools.ts";
import { stubFiles } from "./tools/stubs.ts";
import { type ListedTool, listTools } from "./tools/surface.ts";
import { ownVersion } from "./version.ts";
import { createEngines, deniedPaths } from "./wiring.ts";

/** Everything a transport needs. */
export interface App {
  readonly loaded: Loaded;
  readonly version: string;
  readonly mode: Mode;
  readonly instructions: string;
  readonly resources: Resources;
  readonly roots: Roots;
  readonly telemetry: Telemetry;
  readonly engines: Engines;
  /** The store of all replicas, where there is one. */
  readonly shared: SharedStore | undefined;
  readonly dispatch: Dispatch;
  /** Computed once. */
  tools(): readonly ListedTool[];
  /** What an operator should hear about at start. */
  warnings(): readonly string[];
  /** Every enabled tool, listed or not. */
  listAll(): readonly ListedTool[];
  hasTool(name: string): boolean;
  health(): Promise<Health>;
  isDraining(): boolean;
  /** Takes no new calls and waits for those under way, at most mcp.tools.idle_timeout or until the other promise is done. */
  drain(until?: Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

/** The composition root: config -> engines -> context -> mode -> dispatch. The only file that knows all of them. */
export function createApp(loaded: Loaded): App {
  const { mcp } = loaded.config;
  refuseLinkedState(loaded.state_dir, loaded.allowed_roots);
  const roots = createRoots({
    roots: loaded.allowed_roots,
    enforce: loaded.enforce_roots,
    denied: deniedPaths(loaded),
    state_dir: loaded.state_dir,
  });
  const shared = createShared(mcp.store, loaded.env);
  const telemetry = createTelemetry({
    openShared: shared?.open,
    observability: { ...mcp.observability, csv_path: resolve(loaded.root, mcp.observability.csv_path) },
    audit: { ...mcp.audit, path: mcp.audit.path ?? join(loaded.state_dir, "audit", "audit.jsonl") },
  });
  const all = [...TOOLS, ...makeExecutables(mcp.tools.executables)];
  const mode = selectMode({
    mode: loaded.mode,
    tools: all,
    disabled: [...mcp.tools.disabled, ...(mcp.rlm.enabled ? [] : ["rlm_query"])],
    bootstrap_tool_name: mcp.bootstrap_tool_name,
    hybrid: mcp.hybrid,
    code_execution: mcp.code_execution,
  });
  const instructions = instructionsFor(mode);
  const engines = createEngines(loaded, roots, telemetry, shared);
  const resources = createResources({
    sidecars: mcp.resources.sidecars,
    handles: () => engines.use.handles(),
    indexStats: async () => (await engines.use.rag()).stats(),
  });
  const version = ownVersion();

  async function isolation(): Promise<Pick<Health, "isolation" | "orphans">> {
    const { level, orphans } = await (await engines.use.exec()).isolation();
    return { isolation: level, orphans };
  }

  /** Nobody asked for an index yet: asking for the health is no reason to make one. */
  async function indexState(): Promise<string> {
    if (!existsSync(join(loaded.state_dir, "index.db"))) return "none";
    return (await (await engines.use.rag()).stats()).phase;
  }

  const server: ServerFacts = {
    instructions,
    may_leave_over_http: mcp.rlm.allow_http,
    tools: () => mode.nested,
    metrics: () => telemetry.snapshot(),
    health: async (): Promise<Health> => ({
      ok: true,
      version: mcp.config_version,
      server_version: version,
      mode: mode.name,
      ...(await isolation()),
      index: await indexState(),
    }),
  };
  const leaves = { "mcp.rlm.allow_http": mcp.rlm.allow_http };
  const byName = new Map(mode.nested.map((tool) => [tool.name, tool]));
  const dispatch = createDispatch({
    prepare: () => prepareState(loaded.state_dir, () => stubFiles(mode.nested)),
    find: (name) => byName.get(canonicalName(name)),
    policy: (tool, call) => {
      if (draining) throw new Fault("draining", "The server is stopping.", { retry_after_s: 5 });
      if (tool.leave_over_http && isRemote(call) && !leaves[tool.leave_over_http])
        throw new Fault("tool_disabled", `${tool.name} is not served over HTTP here.`, {
          hint: `The operator can set ${tool.leave_over_http} = true.`,
          rule: tool.leave_over_http,
        });
      if (call.tools && !inScope(tool.name, call.tools))
        throw new Fault("tool_disabled", `Your token may not call ${tool.name}.`, {
          hint: "The operator lists what it may in mcp.auth.tokens.",
          rule: "auth.tokens.tools",
        });
    },
    unknown: (name) => missing(name, all, byName),
    engines: engines.use,
    server,
    roots,
    telemetry,
    format: mcp.output.format === "auto" ? (mode.name === "classic" ? "json" : "lean") : mcp.output.format,
    output: mcp.output,
    limits: mcp.limits,
    session: mcp.session,
    read_timeout_s: mcp.tools.read_timeout,
    include_correlation_id: mcp.observability.include_correlation_id,
  });

  let draining = false;
  let listed: readonly ListedTool[] | undefined;
  const tools = () =>
    (listed ??= listTools(mode.direct, { dialect: mcp.schema_dialect, structured: mcp.output.structured }));
  return {
    loaded,
    version,
    mode,
    instructions,
    resources,
    roots,
    telemetry,
    engines: engines.use,
    shared,
    dispatch,
    tools,
    listAll: () => listTools(mode.nested, { dialect: "full", structured: false }),
    hasTool: (name) => byName.has(canonicalName(name)),
    health: server.health,
    isDraining: () => draining,
    warnings: () => [
      ...loaded.warnings,
      ...mode.warnings,
      ...execWarnings(mcp.tools),
      ...resources.warnings,
      ...budgetWarnings(JSON.stringify(tools()) + instructions, mcp.hybrid.bootstrap_budget_warning, mode),
    ],
    async drain(until) {
      draining = true;
      const end = Date.now() + mcp.tools.idle_timeout * 1000;
      const gone = until?.then(() => true) ?? new Promise<never>(() => {});
      while (dispatch.busy() > 0 && Date.now() < end) {
        const tick = new Promise<false>((resolve) => setTimeout(() => resolve(false), 20));
        if (await Promise.race([gone, tick])) return;
      }
    },
    async close() {
      dispatch.close();
      await engines.close();
      await telemetry.close();
      await shared?.close();
    },
  };
}

function budgetWarnings(surface: string, budget: number, mode: Mode): string[] {
  if (mode.name === "classic" || surface.length <= budget) return [];
  const tokens = countTokens(surface);
  return [
    `The ${mode.name} tool list and instructions are ${surface.length} characters (about ${tokens} tokens), above mcp.hybrid.bootstrap_budget_warning (${budget}).`,
  ];
}

/** Also when code makes the call that a client over the network sent. */
function isRemote(call: Call): boolean {
  const from = call.origin ?? call.via;
  return from === "http" || from === "rest";
}

function inScope(name: string, globs: readonly string[]): boolean {
  return globs.some(
    (glob) => glob === "*" || glob === name || (glob.endsWith("*") && name.startsWith(glob.slice(0, -1))),
  );
}

function missing(name: string, all: readonly Tool[], enabled: ReadonlyMap<string, Tool>): Fault {
  const shown = name.slice(0, 80);
  if (all.some((tool) => tool.name === canonicalName(name)))
    return new Fault("tool_disabled", `${shown} is disabled here.`, {
      hint: "The operator lists it in mcp.tools.disabled.",
      rule: "tools.disabled",
    });
  const close = nearest(name, enabled.keys());
  const akin = searchTools([...enabled.values()], name.slice(0, 80).replaceAll("_", " "))
    .slice(0, 3)
    .map((tool) => tool.name);
  const like = akin.length > 0 ? `${akin.join(", ")} may do it.` : "tools.search('words') in execute_code finds one.";
  return new Fault("unknown_tool", `There is no tool ${shown}.`, { hint: close ? `Did you mean ${close}?` : like });
}
