import { bundle } from "./bundle.ts";
import { desktopCommander } from "./desktop-commander.ts";
import { filesystem } from "./filesystem.ts";
import { shell } from "./shell.ts";
import type { Peer } from "./types.ts";

/** Everyone we are compared with. */
export const PEERS: readonly Peer[] = [desktopCommander, bundle, filesystem, shell];
