/** The rule of directions: base <- engines <- core <- tools <- transports <- (config, cli, app, main). Look down only. */
const layers = {
  base: "^src/base/",
  engines: "^src/engines/",
  core: "^src/core/",
  tools: "^src/tools/",
  transports: "^src/transports/",
  top: "^src/(config|cli)/|^src/(app|main|process|version)[.]ts$",
};
const above = (...names) => names.map((name) => layers[name]).join("|");
/** Tests, what helps them, and programs that only tests start. */
const test = "[.](test|child)[.]ts$|/test-[^/]*[.]ts$";

/** The seam of the handles engine is types only: everyone may know it. */
const seam = "^src/engines/handles/types[.]ts$";

module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } } },
    { name: "base-looks-down", severity: "error", from: { path: layers.base, pathNot: test }, to: { path: above("engines", "core", "tools", "transports", "top") } },
    { name: "engines-look-down", severity: "error", from: { path: layers.engines, pathNot: test }, to: { path: above("core", "tools", "transports", "top") } },
    { name: "core-looks-down", severity: "error", from: { path: layers.core, pathNot: test }, to: { path: above("tools", "transports", "top") } },
    { name: "tools-look-down", severity: "error", from: { path: layers.tools, pathNot: test }, to: { path: above("transports", "top") } },
    { name: "transports-look-down", severity: "error", from: { path: layers.transports, pathNot: test }, to: { path: above("top") } },
    {
      name: "engines-are-strangers",
      severity: "error",
      from: { path: "^src/engines/([^/]+)/" },
      to: { path: layers.engines, pathNot: ["^src/engines/$1/", seam] },
    },
    {
      name: "engines-have-one-door",
      severity: "error",
      from: { pathNot: ["^src/engines/", "^(tests|bench|scripts)/", test] },
      to: { path: layers.engines, pathNot: ["^src/engines/[^/]+/(index|options)[.]ts$", seam] },
    },
    {
      name: "tools-are-strangers",
      severity: "error",
      from: { path: "^src/tools/([a-z0-9]+_[a-z0-9_]+|stat|health|inspect)[.]ts$" },
      to: { path: "^src/tools/([a-z0-9]+_[a-z0-9_]+|stat|health|inspect|index)[.]ts$" },
    },
    {
      name: "protocol-only-in-transports",
      severity: "error",
      from: { path: "^src/", pathNot: [layers.transports, test] },
      to: { path: "node_modules/(@modelcontextprotocol|hono|@hono)/" },
    },
    { name: "only-main-exits", severity: "error", from: { path: "^src/", pathNot: ["^src/(main|process)[.]ts$", test] }, to: { path: "^src/(main|process)[.]ts$" } },
    { name: "no-unresolved", severity: "error", from: {}, to: { couldNotResolve: true } },
    { name: "no-tests-in-code", severity: "error", from: { path: "^src/", pathNot: test }, to: { path: `^(tests|bench|scripts)/|${test}` } },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"], extensions: [".ts", ".js", ".mjs", ".cjs", ".json"] },
  },
};
