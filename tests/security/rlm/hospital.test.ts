import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { plainEnv } from "../../harness/cli.ts";
import { temp } from "../../harness/temp.ts";
import type { Outcome } from "./hospital.child.ts";
import { ELSEWHERE, PORT, PROXY } from "./world.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
let outcomes: Outcome[] = [];

/** In a network namespace with loopback alone. Where the system does not let us make one, this fails: it must not be skipped. */
async function inHospital(): Promise<Outcome[]> {
  using folder = temp();
  writeFileSync(join(folder.path, "hosts"), `127.0.0.1 localhost\n::1 localhost\n${ELSEWHERE} hosts.test\n`);
  writeFileSync(join(folder.path, "resolv.conf"), "nameserver 127.0.0.1\noptions attempts:1 timeout:2\n");
  const proxy = `http://${PROXY}:${PORT}`;
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
  const env = plainEnv({ NODE_USE_ENV_PROXY: "1", ...Object.fromEntries(names.map((name) => [name, proxy])) });
  const program = [here("./namespace.sh"), folder.path, process.execPath, here("./hospital.child.ts")];
  const child = spawn("unshare", ["--map-root-user", "--net", "--mount", "--kill-child", "sh", ...program], {
    env,
    timeout: 120_000,
    killSignal: "SIGKILL",
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  if (code !== 0)
    throw new Error(
      `the hospital check needs unshare, ip, python3 and a network namespace; it ended with ${code}: ${err.slice(-2000)}`,
    );
  return JSON.parse(out.trim().split("\n").at(-1)!) as Outcome[];
}

beforeAll(async () => {
  outcomes = await inHospital();
});

const of = (kind: (name: string) => boolean) => outcomes.filter(({ name }) => kind(name));

describe("the restricted profile, in a network where every address leads to a listener", () => {
  it("offers every way out to it, and sees no packet leave on any", () => {
    const restricted = of((name) => !name.startsWith("control"));
    expect(restricted.length).toBeGreaterThanOrEqual(18);
    for (const { name, packets, arrivals } of restricted)
      expect({ name, packets, arrivals }).toEqual({ name, packets: [], arrivals: [] });
  });

  it("refuses addresses, names, wrapped addresses, redirects and embeddings, and says so", () => {
    const refused = of((name) => !/^control|^past|^code|rebind/.test(name));
    for (const { name, code } of refused) expect({ name, code }).toEqual({ name, code: "egress_denied" });
  });

  it("judges a name each time a socket is made: what was this machine a moment ago may be another", () => {
    expect(of((name) => name.startsWith("rebind")).map(({ code }) => code)).toEqual(["ok", "egress_denied"]);
  });

  it("goes past every proxy of the environment to the model on this machine", () => {
    for (const { code } of of((name) => name.startsWith("past"))) expect(code).toBe("ok");
    expect(of((name) => name.startsWith("past"))).toHaveLength(2);
  });

  it("asks no resolver: even the question would leave", () => {
    for (const { lookups } of of((name) => !/^control|^rebind/.test(name))) expect(lookups).toEqual([]);
  });

  it("is watched by an eye that sees what the operator opened", () => {
    const open = of((name) => name.startsWith("control"));
    expect(open).toHaveLength(3);
    for (const { code, packets, arrivals } of open) {
      expect(code).toBe("ok");
      expect(packets.length).toBeGreaterThan(0);
      expect(arrivals.length).toBeGreaterThan(0);
    }
  });
});
