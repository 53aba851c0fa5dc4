import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { allKeys } from "../../src/config/keys.ts";
import { adapted } from "../harness/caddy.ts";
import { temp } from "../harness/temp.ts";

const read = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8");
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};
const KNOWN = new Set([
  ...allKeys().map(({ env }) => env),
  "LLMC_ROOT",
  "LLMC_STATE_DIR",
  "LLMC_ISOLATED",
  "LLMC_MCP_TOKEN",
  "LLMC_STORE_URL",
]);

describe("the files of deploy/", () => {
  it("name only variables that the server reads", () => {
    const own = new Set([
      "LLMC_DOMAIN",
      "LLMC_WORKSPACE",
      "LLMC_UPSTREAM",
      "LLMC_ADDRESS_LIMIT",
      "LLMC_RETRY_FOR",
      "LLMC_LISTEN",
      "LLMC_A",
      "LLMC_B",
    ]);
    for (const name of [
      "Dockerfile",
      "compose.yaml",
      "Caddyfile",
      "rate-limit.caddy",
      "llmc.service",
      "kubernetes.yaml",
      "team/compose.yaml",
      "team/Caddyfile",
      "team/haproxy.cfg",
    ])
      for (const [variable] of read(name).matchAll(/\bLLMC_[A-Z_]+\b/g))
        expect(KNOWN.has(variable) || own.has(variable), `${variable} in ${name}`).toBe(true);
  });

  it("compose: token from the environment, state in a volume, nothing else writable, no tty", () => {
    const { services, volumes } = parse(read("compose.yaml"));
    const { llmc, caddy } = services;
    expect(llmc.environment.LLMC_MCP_TOKEN).toMatch(/^\$\{LLMC_MCP_TOKEN:\?/);
    expect(llmc.volumes).toEqual(["state:/state", expect.stringContaining("LLMC_WORKSPACE:-workspace}:/workspace")]);
    expect([llmc.read_only, llmc.cap_drop, llmc.tty, llmc.ports]).toEqual([true, ["ALL"], undefined, undefined]);
    expect(Object.keys(volumes)).toEqual(expect.arrayContaining(["state", "workspace"]));
    expect(caddy.depends_on.llmc.condition).toBe("service_healthy");
  });

  it("team: two replicas that differ in their state alone, one store, one repository, nothing sticky", () => {
    const { services } = parse(read("team/compose.yaml"), { merge: true });
    const [a, b] = [services["llmc-a"], services["llmc-b"]];
    expect({ ...a, volumes: [] }).toEqual({ ...b, volumes: [] });
    expect([a.volumes[0], b.volumes[0], a.volumes[1]]).toEqual(["state-a:/state", "state-b:/state", b.volumes[1]]);
    expect(a.environment).toMatchObject({ LLMC_MCP_STORE_BACKEND: "postgres", LLMC_STORE_URL: expect.any(String) });
    expect([a.read_only, a.cap_drop, a.ports, services.postgres.ports]).toEqual([true, ["ALL"], undefined, undefined]);
    const [, body] = [...caddyTree(read("team/Caddyfile"))].at(-1)!;
    const proxy = dig(body, "route", "reverse_proxy {$LLMC_UPSTREAM:llmc-a:8080 llmc-b:8080}");
    expect([proxy?.has("lb_policy least_conn"), proxy?.has("lb_retries 1")]).toEqual([true, false]);
    expect(services.postgres.healthcheck.test).toContain("pg_isready");
    expect(a.depends_on.postgres.condition).toBe("service_healthy");
  });

  it("Kubernetes: one replica on one volume, not root, a read-only root, probes", () => {
    const [claim, deployment, service] = parseAllDocuments(read("kubernetes.yaml")).map((one) => one.toJS());
    const { template, replicas, strategy } = deployment.spec;
    const [container] = template.spec.containers;
    expect([replicas, strategy.type, container.image]).toEqual([1, "Recreate", `llmc:${version}`]);
    expect(template.spec.securityContext.runAsNonRoot).toBe(true);
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    expect(container.env[0].valueFrom.secretKeyRef.name).toBe("llmc");
    const mounted = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
    expect(mounted).toEqual(["/state", "/workspace", "/tmp"]);
    expect(template.spec.volumes[0].persistentVolumeClaim.claimName).toBe(claim.metadata.name);
    expect(service.spec.selector).toEqual(template.metadata.labels);
    for (const probe of [container.readinessProbe, container.livenessProbe]) expect(probe.httpGet.path).toBe("/health");
  });

  it("systemd takes the unit without a complaint", () => {
    using folder = temp();
    const bin = join(folder.path, "llmc");
    writeFileSync(bin, "#!/bin/sh\n", { mode: 0o755 });
    mkdirSync(join(folder.path, "units"));
    const unit = join(folder.path, "units", "llmc.service");
    writeFileSync(
      unit,
      read("llmc.service").replace("/usr/local/bin/llmc", bin).replace("Documentation=man:llmc(1)\n", ""),
    );
    expect(
      execFileSync("systemd-analyze", ["verify", unit], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }),
    ).toBe("");
    expect(read("llmc.service")).not.toMatch(/^(RestrictNamespaces|PrivateUsers|ProtectKernelTunables|ProtectProc)=/m);
  });

  it("the Caddyfile is a tree of directives with TLS, a limit, and a proxy that does not buffer", () => {
    const tree = caddyTree(read("Caddyfile"));
    const [site, body] = [...tree].at(-1)!;
    expect(site).toBe("{$LLMC_DOMAIN:localhost}");
    expect(dig(body, "route", "reverse_proxy {$LLMC_UPSTREAM:llmc:8080}")?.has("flush_interval -1")).toBe(true);
    expect([...dig(body, "route")!.keys()][0]).toBe("import limit/*.caddy");
    const zone = dig(caddyTree(read("rate-limit.caddy")), "rate_limit", "zone by_address");
    expect([...(zone?.keys() ?? [])]).toEqual(["key {remote_host}", "events {$LLMC_ADDRESS_LIMIT:300}", "window 1m"]);
    for (const name of ["compose.yaml", "team/compose.yaml"])
      expect(parse(read(name), { merge: true }).services.caddy.volumes[1]).toMatch(
        /rate-limit\.caddy:\/etc\/caddy\/limit\/rate-limit\.caddy:ro$/,
      );
  });

  it.each(["Caddyfile", "team/Caddyfile"])("Caddy without any plugin takes %s", (name) => {
    using folder = temp();
    const { PATH } = process.env;
    const env = { PATH, HOME: folder.path, XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path };
    expect(JSON.stringify(adapted(name, env))).toContain('"dial":"llmc');
  });

  it("the image has two stages, a user, a health check, and the programs that tools use", () => {
    const lines = read("Dockerfile").split("\n");
    const stages = lines.filter((line) => line.startsWith("FROM "));
    expect(stages).toEqual(["FROM ${BUILD_IMAGE} AS build", "FROM ${BASE_IMAGE}"]);
    expect(lines.some((line) => line.startsWith("USER 1000"))).toBe(true);
    expect(lines.some((line) => line.startsWith("HEALTHCHECK "))).toBe(true);
    for (const program of ["bubblewrap", "git", "ripgrep"]) expect(read("Dockerfile")).toContain(` ${program}`);
  });
});

type Tree = Map<string, Tree>;

/** Directives and their blocks; throws where a brace has no partner. */
function caddyTree(text: string): Tree {
  const root: Tree = new Map();
  const open: Tree[] = [root];
  for (const raw of text.split("\n")) {
    const line = raw.replace(/(^|\s)#.*$/, "").trim();
    if (line === "") continue;
    if (line === "}") {
      if (open.length === 1) throw new Error("a brace too many");
      open.pop();
      continue;
    }
    const block = /^(.*?)\s*\{$/.exec(line);
    const name = block ? block[1]! : line;
    const below: Tree = new Map();
    open.at(-1)!.set(name, below);
    if (block) open.push(below);
  }
  if (open.length !== 1) throw new Error("a brace is missing");
  return root;
}

function dig(tree: Tree, ...names: string[]): Tree | undefined {
  return names.reduce<Tree | undefined>((now, name) => now?.get(name), tree);
}
