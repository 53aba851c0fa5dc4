import type { Enveloped } from "./index.ts";

/** What `te --json` prints and te_run answers. */
export interface TeAnswer {
  readonly success: boolean;
  readonly mode: "enriched" | "passthrough" | "raw";
  readonly command: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
  readonly enrichment: {
    readonly match_count: number | null;
    readonly truncated: boolean;
    readonly handle: string | null;
    readonly tokens_estimate: number;
  };
  readonly telemetry: {
    readonly latency_ms: number;
    readonly agent_id: string;
    readonly budget_remaining: number | null;
  };
}

interface Result {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
  readonly timed_out: boolean;
  readonly truncated: boolean;
  readonly handle: string | undefined;
  readonly duration_ms: number;
}

/** The contract from a run, and from its digest when there is one. */
export function teAnswer(command: string, agent_id: string, result: Result, enveloped?: Enveloped): TeAnswer {
  const { stdout, stderr, handle, truncated } = { ...result, ...enveloped };
  return {
    success: result.exit_code === 0,
    mode: enveloped?.mode ?? "raw",
    command,
    stdout,
    stderr: result.timed_out ? `${stderr}[timed out]\n` : stderr,
    exit_code: result.exit_code,
    enrichment: {
      match_count: enveloped?.match_count ?? null,
      truncated,
      handle: handle ?? null,
      tokens_estimate: enveloped?.tokens_estimate ?? Math.ceil((stdout.length + stderr.length) / 3.5),
    },
    telemetry: {
      latency_ms: enveloped?.latency_ms ?? result.duration_ms,
      agent_id,
      budget_remaining: enveloped?.budget_remaining ?? null,
    },
  };
}

/** As te prints it for people: the last line says where the rest is. */
export function teText({ stdout, exit_code, enrichment: { handle, truncated } }: TeAnswer): string {
  if (!truncated || handle === null) return stdout;
  const gap = stdout === "" || stdout.endsWith("\n") ? "" : "\n";
  return `${stdout}${gap}[exit ${exit_code}; all of it: te --handle ${handle}]\n`;
}
