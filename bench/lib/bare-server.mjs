/** The floor: the same protocol library on the same Node, unbundled, with one tool that does nothing. */
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

serveStdio(() => {
  const server = new Server({ name: "bare", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: [{ name: "nothing", inputSchema: { type: "object" } }],
  }));
  server.setRequestHandler("tools/call", () => ({ content: [{ type: "text", text: "ok" }] }));
  return server;
});
