import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { createModels } from "../../src/engines/rlm/egress.ts";
import { temp } from "../harness/temp.ts";

/** The profile as an operator would use it: as llmc.toml. */
function loaded(name: string) {
  using folder = temp();
  cpSync(`deploy/profiles/${name}.toml`, join(folder.path, "llmc.toml"));
  const { config, warnings } = loadConfig({ cwd: folder.path, root: folder.path, env: {} });
  expect(warnings).toEqual([]);
  const models = createModels(config.mcp.rlm, config.rlm, () => undefined);
  return { policy: config.mcp.rlm, models };
}

describe("the profiles that are shipped", () => {
  it("restricted: this machine only, no override, no trace", () => {
    const { policy, models } = loaded("rlm-restricted");
    expect(policy).toMatchObject({
      profile: "restricted",
      allow_model_override: false,
      allow_http: false,
      allowed_hosts: [],
      trace: false,
    });
    expect(models.root()).toMatchObject({ is_local: true, price: { input: 0 } });
    expect(() => models.root("openai/gpt-4o")).toThrow(/does not let/);
  });

  it("unrestricted: providers with known prices, and override by prefix", () => {
    const { models } = loaded("rlm-unrestricted");
    const root = models.root();
    expect(root).toMatchObject({ dialect: "anthropic", is_local: false });
    expect(models.sub(root).price.output).toBeLessThan(root.price.output);
    expect(models.root("openai/gpt-4o").name).toBe("openai/gpt-4o");
    expect(() => models.root("evil/x")).toThrow(/not allowed/);
  });

  it("are named where an operator reads about them", () => {
    for (const page of ["docs/rlm.md", "docs/runbook.md"])
      expect(readFileSync(page, "utf8")).toContain("deploy/profiles/rlm-restricted.toml");
  });
});
