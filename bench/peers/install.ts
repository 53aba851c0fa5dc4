import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Peer } from "./types.ts";

export interface Installed {
  readonly peer: Peer;
  /** The script of each of its servers. */
  readonly scripts: readonly string[];
}

/** Installs a peer in a folder of its own, outside our dependencies, at exact versions, without running any script. A second time it is there. */
export function install(peer: Peer, folder: string): Installed | { readonly peer: Peer; readonly reason: string } {
  const home = join(folder, peer.name.replaceAll(" ", "-").toLowerCase());
  const dependencies = Object.fromEntries(peer.packages.map(({ name, version }) => [name, version]));
  const scripts = peer.packages.map(({ name, bin }) => join(home, "node_modules", name, bin));
  if (!scripts.every((path) => existsSync(path))) {
    mkdirSync(home, { recursive: true });
    const manifest = { private: true, dependencies, ...(peer.overrides ? { overrides: peer.overrides } : {}) };
    writeFileSync(join(home, "package.json"), JSON.stringify(manifest));
    try {
      execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
        cwd: home,
        stdio: ["ignore", "ignore", "pipe"],
      });
    } catch (error) {
      const said = String((error as { stderr?: Buffer }).stderr ?? error);
      return { peer, reason: /npm error (?:notarget|404) (.+)/.exec(said)?.[1] ?? said.slice(0, 200) };
    }
  }
  return { peer, scripts };
}
