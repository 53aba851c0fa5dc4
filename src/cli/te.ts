import { mintPrincipal } from "../base/principal.ts";
import type { Loaded } from "../config/load.ts";
import type { Enveloped, TeAsk } from "../engines/envelope/index.ts";
import type { Exec, RunResult } from "../engines/exec/index.ts";
import type { Handles } from "../engines/handles/types.ts";
import { isHandle } from "../engines/handles/types.ts";
import type { Terminal } from "./command.ts";
import { openEnvelope } from "./envelope.ts";
import { rememberedConfig } from "./remembered-config.ts";

const HELP = `te - run a command and print what matters of its output

Usage: te [--json] [-i|--raw] COMMAND [ARGS...]
       te --handle ID [--chunk N]    the whole of an earlier output, or a part of it
       te --list-handles             what is kept
       te --stats [--json]           calls, times and tokens saved

The command runs without a shell, through the same gate as run_cmd. te ends with its exit code.
`;

/** One command line of te. Its exit code is the command's; 2 when it could not be understood or was refused. */
export async function runTe(words: readonly string[], terminal: Terminal): Promise<number> {
  const { parseTe, statsTable } = await import("../engines/envelope/index.ts");
  const ask = parseTe(words);
  if (ask.ask === "help") return print(terminal, HELP);
  if (ask.ask === "version") return print(terminal, `te ${(await import("../version.ts")).ownVersion()}\n`);
  const loaded = await rememberedConfig(terminal);
  if (ask.ask === "run") return runCommand(loaded, ask, terminal);
  if (ask.ask === "stats") {
    const envelope = await openEnvelope(loaded);
    try {
      const stats = await envelope.stats();
      return print(terminal, ask.json ? `${JSON.stringify(stats)}\n` : statsTable(stats));
    } finally {
      await envelope.close();
    }
  }
  const handles = await openHandles(loaded);
  try {
    return print(terminal, ask.ask === "handle" ? await read(handles, ask) : await list(handles, ask.json));
  } finally {
    await handles.close();
  }
}

const principal = () => mintPrincipal("local", process.getuid?.() ?? 0);

async function runCommand(loaded: Loaded, ask: TeAsk & { ask: "run" }, terminal: Terminal): Promise<number> {
  const exec = await openExec(loaded);
  const envelope = await openEnvelope(loaded);
  let handles: Handles | undefined;
  const store = async () => (handles ??= await openHandles(loaded));
  const raw = ask.raw || !envelope.options.enabled;
  try {
    const [only] = ask.words;
    const asLine = ask.words.length === 1 && /\s/.test(only!);
    const command = await exec.allow({
      ...(asLine ? { command: only } : { argv: ask.words }),
      cwd: terminal.cwd,
    });
    const watch = envelope.watch();
    const who = session(loaded, terminal);
    const keep = async (output: string | AsyncIterable<Uint8Array>) =>
      (await store()).put(principal(), output, { kind: "output", path: command.shown.slice(0, 200) });
    const result = await exec.run(principal(), command, {
      timeout_s: envelope.options.timeout,
      // Stopped from outside, te takes the command with it: the engine sees to that.
      signal: new AbortController().signal,
      session: who,
      keep,
      watch: (stream, chunk) => {
        watch.push(stream, chunk);
        if (raw && !ask.json) terminal[stream === "stdout" ? "out" : "err"](chunk);
      },
    });
    const argv = [command.name, ...command.words.slice(1)];
    const ended = {
      ...result,
      who,
      principal: principal(),
      argv,
      raw,
      keep: (output: string) => keep(output).catch(() => undefined),
    };
    const enveloped = await envelope.finish(watch, ended);
    await show(ask.json, raw, command.shown, who.agent_id, result, enveloped, terminal);
    return result.signal === null ? result.exit_code : 128 + 15;
  } finally {
    // The telemetry is left open: closing it would write it all to its place, and the next one to open it does that as well.
    await Promise.all([exec.close(), handles?.close()]);
  }
}

async function show(
  json: boolean,
  raw: boolean,
  command: string,
  agent_id: string,
  result: RunResult,
  enveloped: Enveloped,
  terminal: Terminal,
): Promise<void> {
  if (raw && !json) return;
  const { teAnswer, teText } = await import("../engines/envelope/index.ts");
  const answer = teAnswer(
    command,
    agent_id,
    result,
    raw ? { ...enveloped, stdout: result.stdout, stderr: result.stderr } : enveloped,
  );
  if (json) return void terminal.out(`${JSON.stringify(answer)}\n`);
  terminal.err(answer.stderr);
  terminal.out(teText(answer));
}

/** Who it runs for is told by the environment, never guessed. */
function session({ config }: Loaded, { env }: Terminal) {
  return {
    agent_id: env["TE_AGENT_ID"] ?? config.mcp.session.default_agent_id,
    session_id: env["TE_SESSION_ID"] ?? "",
    model: env["TE_MODEL"] ?? config.mcp.session.default_model,
    budget_profile: "default",
  };
}

async function openExec(loaded: Loaded): Promise<Exec> {
  const [{ createExec }, { createRoots }] = await Promise.all([
    import("../engines/exec/index.ts"),
    import("../base/path/index.ts"),
  ]);
  const { tools } = loaded.config.mcp;
  const { state_dir, isolated, env, allowed_roots, enforce_roots } = loaded;
  const roots = createRoots({ roots: allowed_roots, enforce: enforce_roots, denied: tools.denied_paths, state_dir });
  return createExec(tools, { roots, denied: tools.denied_paths, state_dir, isolated, path: env["PATH"] ?? "", env });
}

async function openHandles(loaded: Loaded): Promise<Handles> {
  const [{ createHandles }, { createRoots }] = await Promise.all([
    import("../engines/handles/index.ts"),
    import("../base/path/index.ts"),
  ]);
  const { state_dir, allowed_roots, enforce_roots } = loaded;
  const roots = createRoots({ roots: allowed_roots, enforce: enforce_roots, state_dir });
  return createHandles(loaded.config.mcp.handles, { state_dir, roots });
}

async function list(handles: Handles, json: boolean): Promise<string> {
  const all = await handles.list(principal(), 200);
  if (json) return `${JSON.stringify(all)}\n`;
  return all
    .map(
      ({ handle, state, bytes, created_at, kind, path }) =>
        `${handle}  ${state}  ${bytes}  ${created_at}  ${path ?? kind}\n`,
    )
    .join("");
}

async function read(handles: Handles, { handle, chunk }: TeAsk & { ask: "handle" }): Promise<string> {
  const { Fault } = await import("../base/fault.ts");
  if (!isHandle(handle)) throw new Fault("invalid_args", "That is no handle: they look like res_….");
  if (chunk !== undefined) return (await handles.readChunk(principal(), handle, chunk)).content;
  const parts: Uint8Array[] = [];
  for (let at = 0; ; ) {
    const { bytes, total_bytes } = await handles.readBytes(principal(), handle, at, 1 << 20);
    parts.push(bytes);
    at += bytes.length;
    if (bytes.length === 0 || at >= total_bytes) return Buffer.concat(parts).toString();
  }
}

function print(terminal: Terminal, text: string): number {
  terminal.out(text);
  return 0;
}
