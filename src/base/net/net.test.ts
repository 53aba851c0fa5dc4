import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEgress, createPoster, hostList, isLoopback, NetworkError } from "./index.ts";

const signal = new AbortController().signal;
const restricted = createEgress({ profile: "restricted", allowed_hosts: [] });
let server: Server;
let port = 0;
let seen = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    seen++;
    request.resume();
    if (request.url === "/redirect") response.writeHead(307, { location: `http://127.0.0.1:${port}/there` }).end();
    else if (request.url === "/cut")
      response.writeHead(200, { "content-length": "100" }).write("x", () => response.destroy());
    else if (request.url !== "/never") response.end("ok");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function post(url: string, egress = restricted, stop: AbortSignal = signal): Promise<unknown> {
  const poster = createPoster(egress);
  try {
    return await poster.post(new URL(url), {}, "{}", stop);
  } finally {
    poster.close();
  }
}

describe("addresses", () => {
  it.each(["127.0.0.1", "127.8.9.1", "::1", "[::1]", "::ffff:127.0.0.1", "::ffff:7f00:1"])(
    "%s is this machine",
    (one) => expect(isLoopback(one)).toBe(true),
  );
  it.each([
    "0.0.0.0",
    "10.0.0.1",
    "::ffff:10.0.0.1",
    "::",
    "fe80::1%lo",
    "127.0.0.1.example.org",
    "localhost",
    "",
    "128.0.0.1",
  ])("%s is not", (one) => expect(isLoopback(one)).toBe(false));
  it("lists hold names, addresses and networks", () => {
    const list = hostList(["GPU.internal", "10.0.0.0/8", "2001:db8::1"]);
    expect(["gpu.internal", "gpu.internal.", "other.internal"].map(list.hasName)).toEqual([true, true, false]);
    expect(["10.1.2.3", "::ffff:10.1.2.3", "11.0.0.1", "2001:db8::1"].map(list.hasAddress)).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });
});

describe("the way out", () => {
  it("leads to this machine, by address and by name", async () => {
    expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, body: "ok" });
    expect(await post(`http://localhost:${port}/`)).toMatchObject({ status: 200, body: "ok" });
    expect(await post(`http://[::ffff:127.0.0.1]:${port}/`)).toMatchObject({ status: 200 });
  });

  it.each([
    "http://192.0.2.1/",
    "http://[::ffff:192.0.2.1]/",
    "http://[::ffff:c000:201]/",
    "http://0.0.0.0:1/",
    "https://192.0.2.1/",
    "http://3221225985/",
  ])("is closed to %s when restricted", async (url) =>
    expect(await post(url).catch((fault: unknown) => fault)).toMatchObject({ code: "egress_denied" }),
  );

  it("does not follow redirects", async () => {
    seen = 0;
    expect(await post(`http://127.0.0.1:${port}/redirect`).catch((fault: unknown) => fault)).toMatchObject({
      code: "egress_denied",
      message: expect.stringContaining("redirect"),
    });
    expect(seen).toBe(1);
  });

  it("tells a connection that was never made from one that broke", async () => {
    const refused = await post("http://127.0.0.1:1/").catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(NetworkError);
    expect(refused).toMatchObject({ sent: false });
    expect(await post(`http://127.0.0.1:${port}/cut`).catch((error: unknown) => error)).toMatchObject({ sent: true });
  });

  it("ends with its signal, with the signal's reason", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const asked = post(`http://127.0.0.1:${port}/never`, restricted, stop.signal).catch((error: unknown) => error);
    setTimeout(() => stop.abort(reason), 20);
    expect(await asked).toBe(reason);
  });
});
