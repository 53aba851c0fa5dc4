// What Node would have.
for (const name of [
  "process",
  "Buffer",
  "WebAssembly",
  "fetch",
  "Deno",
  "module",
  "__host",
  "__files",
  "std",
  "os",
  "SharedWorker",
  "Worker",
])
  if (typeof globalThis[name] !== "undefined") console.log("ESCAPED", name);
