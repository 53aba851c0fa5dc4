import { relative, resolve } from "node:path";
import { createApp } from "../../app.ts";
import { Fault } from "../../base/fault.ts";
import { mintPrincipal } from "../../base/principal.ts";
import { type Invocation, textFlag } from "../command.ts";
import { loadFor } from "../where.ts";
import { report, type Told } from "./report.ts";
import { createView } from "./view.ts";

interface Payload {
  readonly data: Pick<Told, "answer" | "session_id" | "budget_summary" | "trace">;
  readonly meta: Pick<Told, "stop_reason" | "turns">;
}

/** The same call as a client's, through the same door, with a view of it while it runs. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, flags } = invocation;
  const args = argumentsOf(invocation);
  const loaded = loadFor(invocation, {
    // The view tells what the log would.
    "mcp.observability.log_level": "warn",
    "rlm.root_model": textFlag(invocation, "model"),
    "mcp.rlm.trace": flags["trace"] === true ? true : undefined,
  });
  const app = createApp(loaded);
  const cancel = new AbortController();
  process.once("SIGINT", () => cancel.abort(new Fault("timeout", "Cancelled.")));
  const file = textFlag(invocation, "file");
  // Who names a file by hand means all of it: only the operator's limit holds.
  const max_bytes = loaded.config.mcp.rlm.max_bytes_limit;
  const view = createView(terminal, `${loaded.config.rlm.root_model ?? "no model"} reads ${file ?? "the given text"}`);
  try {
    const reply = await app.dispatch({
      name: "rlm_query",
      args: file === undefined ? args : { max_bytes, ...args, path: pathOf(file, invocation, app.roots.list[0]) },
      principal: mintPrincipal("local", process.getuid?.() ?? 0),
      via: "cli",
      signal: cancel.signal,
      edge: "data",
      progress: view.show,
    });
    view.end();
    if (!reply.ok) throw reply.fault;
    const { data, meta } = reply.payload as Payload;
    if (flags["json"]) terminal.out(`${JSON.stringify(reply.payload)}\n`);
    else report(terminal, { ...data, ...meta });
    return 0;
  } finally {
    await app.close();
  }
}

function argumentsOf(invocation: Invocation): Record<string, unknown> {
  const task = invocation.args.join(" ");
  const context = textFlag(invocation, "context");
  if (task.trim() === "")
    throw new Fault("invalid_args", "Ask what?", { hint: 'llmc rlm query "What fails first?" --file build.log' });
  return {
    task,
    ...(context === undefined ? {} : { context }),
    ...number(invocation, "budget", "budget_usd"),
    ...number(invocation, "max-turns", "max_turns"),
    ...number(invocation, "max-bytes", "max_bytes"),
    ...number(invocation, "timeout", "timeout_s"),
  };
}

function number(invocation: Invocation, flag: string, name: string): Record<string, number> {
  const text = textFlag(invocation, flag);
  if (text === undefined) return {};
  if (text.trim() === "" || Number.isNaN(Number(text))) throw new Fault("invalid_args", `--${flag} takes a number.`);
  return { [name]: Number(text) };
}

/** As the tool takes it: relative to the root where it lies below it. */
function pathOf(file: string, { terminal }: Invocation, root = "/"): string {
  const absolute = resolve(terminal.cwd, file);
  const below = relative(root, absolute);
  return below.startsWith("..") ? absolute : below;
}
