import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

// Compiled code is kept in the user's own cache folder, never in a shared one: what lies there is executed.
enableCompileCache(join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "llmc", "compile"));

const { main } = await import("./process.ts");
await main();
