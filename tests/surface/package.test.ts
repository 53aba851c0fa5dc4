import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const json = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), "utf8"));

describe("the entry for the MCP registry", () => {
  const server = json("server.json");
  const manifest = json("package.json");

  it("names this package, in this version, as the registry demands", () => {
    expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    expect(manifest.mcpName).toBe(server.name);
    expect(server.$schema).toMatch(
      /^https:\/\/static\.modelcontextprotocol\.io\/schemas\/\d{4}-\d\d-\d\d\/server\.schema\.json$/,
    );
    expect(server.description.length).toBeLessThanOrEqual(100);
    expect([server.version, server.packages[0].version]).toEqual([manifest.version, manifest.version]);
    expect(server.packages).toMatchObject([
      { registryType: "npm", identifier: manifest.name, transport: { type: "stdio" } },
    ]);
  });

  it("starts the server with arguments that it takes", () => {
    const words = server.packages[0].packageArguments.flatMap((one: { type: string; name?: string; value: string }) =>
      one.type === "named" ? [one.name, one.value] : [one.value],
    );
    expect(words).toEqual(["serve", "--root", "{root}"]);
    expect(server.packages[0].environmentVariables[0].name).toBe("LLMC_MCP_MODE");
  });
});
