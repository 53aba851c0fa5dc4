import { type ChildProcess, spawn } from "node:child_process";
import { childrenOf } from "./proc.ts";
import { isProgram } from "./resolve.ts";

/** A network namespace with nothing in it but its own loopback, shared by the sandboxes of one caller while one of them serves. */
export interface Network {
  /** Words before a command that put it into the network. */
  readonly enter: readonly string[];
}

export interface Networks {
  /** The network of this caller, made when there is none. Release it as often as it was asked for. */
  hold(owner: string): Promise<Network | undefined>;
  release(owner: string): void;
  /** The network of this caller if something lives in it. */
  current(owner: string): Network | undefined;
  close(): void;
}

const NSENTER = ["/usr/bin/nsenter", "/bin/nsenter"];

interface Holder {
  readonly child: ChildProcess;
  readonly network: Network;
  count: number;
}

/** Without nsenter each sandbox has a network of its own, and they cannot reach each other. */
export function createNetworks(bwrap: string | undefined): Networks {
  const holders = new Map<string, Promise<Holder | undefined>>();
  const ready = new Map<string, Holder>();
  const nsenter = NSENTER.find(isProgram);

  return {
    async hold(owner) {
      if (bwrap === undefined || nsenter === undefined) return undefined;
      let promise = holders.get(owner);
      if (!promise) holders.set(owner, (promise = startHolder(bwrap, nsenter)));
      const holder = await promise;
      if (!holder) return undefined;
      ready.set(owner, holder);
      holder.count++;
      return holder.network;
    },
    release(owner) {
      const holder = ready.get(owner);
      if (!holder || --holder.count > 0) return;
      ready.delete(owner);
      holders.delete(owner);
      holder.child.stdin?.end();
    },
    current: (owner) => ready.get(owner)?.network,
    close() {
      for (const holder of ready.values()) holder.child.stdin?.end();
      ready.clear();
      holders.clear();
    },
  };
}

/** A sandbox that does nothing but wait for a byte that never comes. */
async function startHolder(bwrap: string, nsenter: string): Promise<Holder | undefined> {
  const child = spawn(
    bwrap,
    [
      "--die-with-parent",
      "--unshare-user",
      "--unshare-net",
      "--ro-bind",
      "/",
      "/",
      "--",
      "/bin/sh",
      "-c",
      "echo up; read -r _",
    ],
    {
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
      env: {},
      cwd: "/",
    },
  );
  const up = await new Promise<boolean>((resolve) => {
    child.stdout?.once("data", () => resolve(true));
    child.once("exit", () => resolve(false));
    child.once("error", () => resolve(false));
  });
  const inner = up && child.pid !== undefined ? childrenOf(child.pid)[0] : undefined;
  if (inner === undefined) {
    child.kill("SIGKILL");
    return undefined;
  }
  child.unref();
  return {
    child,
    count: 0,
    network: { enter: [nsenter, "--target", String(inner), "--user", "--net", "--preserve-credentials", "--"] },
  };
}
