import { type App, createApp } from "../../app.ts";
import type { Loaded } from "../../config/load.ts";
import type { Stats } from "../../engines/envelope/index.ts";
import type { Lease } from "../../engines/fs/index.ts";
import type { Terminal } from "../command.ts";
import { auditPath } from "../trail.ts";
import { followAudit } from "./follow.ts";
import { createTally, type Figures } from "./tally.ts";

/** What agents did in a repository, from the audit, the telemetry of commands and the locks. */
export interface Usage extends Figures {
  readonly root: string;
  readonly since: string;
  /** Read by commands' digests or by code, and so by no model. */
  readonly tokens_saved: number;
  readonly locks: readonly Lease[];
  readonly te: Stats;
}

export interface Watching {
  look(): Promise<Usage>;
  close(): Promise<void>;
}

export function watchUsage(loaded: Loaded, since: string): Watching {
  const app: App = createApp(loaded);
  const tally = createTally();
  const follower = followAudit(auditPath(loaded), since, tally.add);
  return {
    async look() {
      await follower.poll();
      const figures = tally.figures(Date.now());
      const te = await (await app.engines.envelope()).stats(undefined, Date.parse(since));
      const locks = await (await app.engines.fs()).locks();
      return {
        root: loaded.root,
        since,
        ...figures,
        tokens_saved: figures.tokens_in_code + te.total.tokens_saved,
        locks,
        te,
      };
    },
    close: () => app.close(),
  };
}

/** Zeros that mean nothing must not look like a quiet day. */
export function warnBlind({ config }: Loaded, terminal: Terminal): void {
  if (!config.mcp.audit.enabled) terminal.err("mcp.audit.enabled is false: calls are not counted.\n");
}

/** Midnight where the person is. */
export function today(): string {
  return new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
}
