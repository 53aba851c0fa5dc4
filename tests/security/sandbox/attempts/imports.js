// Modules of the host, by every name.
for (const name of [
  "child_process",
  "node:child_process",
  "os",
  "std",
  "node:worker_threads",
  "/etc/passwd",
  "file:///etc/passwd",
  "../../../etc/passwd",
  "data:text/javascript,1",
  CANARY_FILE,
]) {
  try {
    await import(name);
    console.log("ESCAPED", name);
  } catch {}
  try {
    require(name);
    console.log("ESCAPED", name);
  } catch {}
}
