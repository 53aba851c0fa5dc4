import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type HttpServer, startHttp, TOKEN } from "../harness/http.ts";
import { type Temp, temp } from "../harness/temp.ts";

let folder: Temp;
let server: HttpServer;
beforeAll(async () => {
  folder = temp();
  writeFileSync(join(folder.path, "a.txt"), "hello\n");
  server = await startHttp(folder.path);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** As it stands on the wire, less what differs from answer to answer. */
function sent(path: string, body: string, headers: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const head = [
    `POST ${path} HTTP/1.1`,
    ...["host: 127.0.0.1", "connection: close", `x-llmc-token: ${TOKEN}`, "x-correlation-id: same"],
    ...[`content-length: ${Buffer.byteLength(body)}`, ...headers],
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.on("data", (chunk) => (answer += chunk));
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
    socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  });
}

function comparable(answer: string): unknown {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  const [status, ...lines] = head.split("\r\n");
  const kept = lines.map((line) => line.toLowerCase()).filter((line) => !/^(date|connection|keep-alive):/.test(line));
  return { status, headers: kept.sort(), body };
}

/** A header that stands there twice is the framework's to read. */
const TWICE = ["x-any: 1", "x-any: 2"];

it.each([
  ["a call", "/tool", '{"name":"stat","args":{"path":"a.txt"}}'],
  ["a call without arguments", "/tool", '{"name":"llmc_init"}'],
  ["a path outside", "/tool", '{"name":"stat","args":{"path":"../x"}}'],
  ["an argument that is missing", "/tool", '{"name":"stat","args":{}}'],
  ["a tool that does not exist", "/tool", '{"name":"nothing"}'],
  ["no name", "/tool", "{}"],
  ["a list", "/tool", "[]"],
  ["no JSON", "/tool", "{"],
  ["nothing", "/tool", ""],
  ["text beyond ASCII", "/tool", '{"name":"é日本😀"}'],
  ["another endpoint", "/rag/bootload", "{}"],
])("over the short way and through the framework %s is answered alike", async (_name, path, body) => {
  const short = comparable(await sent(path, body, []));
  expect(short).toEqual(comparable(await sent(path, body, TWICE)));
  expect(short).toMatchObject({ headers: expect.arrayContaining(["x-correlation-id: same"]) });
});

it("a caller who hangs up in the middle of a body hinders nobody", async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  socket.write(
    `POST /tool HTTP/1.1\r\nhost: 127.0.0.1\r\nx-llmc-token: ${TOKEN}\r\ncontent-length: 900\r\n\r\n{"name"`,
  );
  socket.destroy();
  const { status } = await server.post("/tool", { name: "stat", args: { path: "a.txt" } });
  expect(status).toBe(200);
});

it("two requests in one packet are both answered, in their order", async () => {
  const { hostname, port } = new URL(server.url);
  const one = (path: string, connection: string) => {
    const body = JSON.stringify({ name: "stat", args: { path } });
    return `POST /tool HTTP/1.1\r\nhost: 127.0.0.1\r\nx-llmc-token: ${TOKEN}\r\nconnection: ${connection}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.on("data", (chunk) => (text += chunk));
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
    socket.write(one("a.txt", "keep-alive") + one("gone.txt", "close"));
  });
  expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(["200", "404"]);
});
