import type { App } from "../../app.ts";
import type { Loaded } from "../../config/load.ts";
import type { Terminal } from "../command.ts";

/** What a check may look at. */
export interface Patient {
  readonly loaded: Loaded;
  readonly app: App;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}
