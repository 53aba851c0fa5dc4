import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

// The same cache as the server's, for the same reason: the user's own folder, because what lies there is executed.
enableCompileCache(join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "llmc", "compile"));

const { main } = await import("./te-process.ts");
await main();
