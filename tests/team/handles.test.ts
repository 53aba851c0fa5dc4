import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRoots, pinFile } from "../../src/base/path/index.ts";
import { mintPrincipal } from "../../src/base/principal.ts";
import { connectPostgres, type Postgres } from "../../src/base/store/postgres.ts";
import { createHandles, type Handles, handlesOptions } from "../../src/engines/handles/index.ts";
import { type PostgresServer, startPostgres } from "../harness/postgres.ts";

const ANN = mintPrincipal("token", "ann");
const BEN = mintPrincipal("token", "ben");
const { signal } = new AbortController();

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

interface Pair extends AsyncDisposable {
  readonly a: Handles;
  readonly b: Handles;
  readonly root: string;
}

/** Two servers on one store: two processes on one folder, or two replicas on one PostgreSQL. */
async function pair(
  backend: "sqlite" | "postgres",
  options: Partial<Parameters<typeof handlesOptions.parse>[0] & object> = {},
): Promise<Pair> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "llmc-team-")));
  const url = backend === "postgres" ? server.database() : undefined;
  const connections: Postgres[] = [];
  const make = async () => {
    const postgres = url === undefined ? undefined : await connectPostgres({ url });
    if (postgres) connections.push(postgres);
    return createHandles(handlesOptions.parse(options), {
      // Replicas share the repository and nothing else.
      state_dir: url === undefined ? join(root, ".llmc") : mkdtempSync(join(root, "state-")),
      roots: createRoots({ roots: [root] }),
      ...(postgres ? { openShared: postgres.open } : {}),
    });
  };
  const [a, b] = [await make(), await make()];
  return {
    a,
    b,
    root,
    async [Symbol.asyncDispose]() {
      await a.close();
      await b.close();
      for (const each of connections) await each.close();
      rmSync(root, { recursive: true });
    },
  };
}

describe.each(["sqlite", "postgres"] as const)("handles of two servers on %s", (backend) => {
  it("made by one are read by the other, by lines, chunks and bytes, and only by their owner", async () => {
    await using team = await pair(backend);
    const text = Array.from({ length: 50_000 }, (_, n) => `line ${n} größe\n`).join("");
    const handle = await team.a.put(ANN, text, { kind: "output", path: "x" });
    expect((await team.b.readLines(ANN, handle, 49_998, 5)).content).toBe("line 49998 größe\nline 49999 größe\n");
    expect((await team.b.readLines(ANN, handle, 0, 1)).meta.total_lines).toBe(50_000);
    expect((await team.b.readChunk(ANN, handle, 0)).content.startsWith("line 0 größe\n")).toBe(true);
    const { bytes } = await team.b.readBytes(ANN, handle, 5, 3);
    expect(Buffer.from(bytes).toString()).toBe("0 g");
    expect(await team.b.list(ANN, 5)).toMatchObject([{ handle, kind: "output", path: "x", state: "done" }]);
    await expect(team.b.info(BEN, handle)).rejects.toMatchObject({ code: "handle_expired" });
    expect(await team.b.list(BEN, 5)).toEqual([]);
  });

  it("come from streams and from files too, and a file that changed is gone for both", async () => {
    await using team = await pair(backend, { inline_file_bytes: 10 });
    const parts = (async function* () {
      for (let n = 0; n < 40; n++) yield Buffer.alloc(100_000, 97 + (n % 26));
    })();
    const streamed = await team.a.put(ANN, parts, { kind: "output" });
    expect((await team.b.info(ANN, streamed)).bytes).toBe(4_000_000);
    expect(Buffer.from((await team.b.readBytes(ANN, streamed, 3_900_000, 2)).bytes).toString()).toBe("nn");
    const path = join(team.root, "big.txt");
    writeFileSync(path, "one\ntwo\nthree\n".repeat(100));
    const roots = createRoots({ roots: [team.root] });
    const file = pinFile(roots, roots.mint("big.txt", "read"));
    const kept = await team.a.putFile(ANN, file, { kind: "file_content" });
    file[Symbol.dispose]();
    expect((await team.b.readLines(ANN, kept, 299, 1)).content).toBe("three\n");
    writeFileSync(path, "other\n");
    await expect(team.b.readLines(ANN, kept, 0, 1)).rejects.toMatchObject({ code: "handle_expired" });
  });

  it("stay within count and bytes whoever puts them, the oldest leave first, and equal contents are kept once", async () => {
    await using team = await pair(backend, { max_count: 10 });
    const all: string[] = [];
    for (let n = 0; n < 8; n++) all.push(await (n % 2 ? team.a : team.b).put(ANN, `text ${n}`, { kind: "output" }));
    const same = await Promise.all(
      Array.from({ length: 12 }, (_, n) => (n % 2 ? team.a : team.b).put(ANN, "the same", { kind: "output" })),
    );
    expect(await team.a.list(ANN, 100)).toHaveLength(10);
    await expect(team.b.info(ANN, all[0]!)).rejects.toMatchObject({ code: "handle_expired" });
    expect((await team.b.readLines(ANN, same.at(-1)!, 0, 1)).content).toBe("the same");
  });

  it("of jobs are watched and cancelled from the other server", async () => {
    await using team = await pair(backend);
    const asked = Promise.withResolvers<void>();
    const job = await team.a.startJob(ANN, { kind: "job" }, () => asked.resolve());
    job.progress("half way");
    await expect.poll(async () => (await team.b.info(ANN, job.handle)).progress, { timeout: 5000 }).toBe("half way");
    await expect(team.b.cancel(BEN, job.handle)).rejects.toMatchObject({ code: "handle_expired" });
    expect(await team.b.cancel(ANN, job.handle)).toBe(true);
    await asked.promise;
    const other = await team.a.startJob(ANN, { kind: "job" }, () => {});
    const waited = team.b.wait(ANN, other.handle, 20, signal);
    await other.done("finished");
    await waited;
    expect(await team.b.info(ANN, other.handle)).toMatchObject({ state: "done" });
    expect((await team.b.readLines(ANN, other.handle, 0, 1)).content).toBe("finished");
  });

  it("of a server that closed read as interrupted", async () => {
    await using team = await pair(backend);
    const job = await team.a.startJob(ANN, { kind: "job" }, () => {});
    await team.a.close();
    expect(await team.b.info(ANN, job.handle)).toMatchObject({ state: "interrupted" });
  });
});

it("a store that goes away is a fault to come back from, and what was acknowledged is still there", async () => {
  await using own = await startPostgres();
  const postgres = await connectPostgres({ url: own.url, connect_ms: 500 });
  const root = realpathSync(mkdtempSync(join(tmpdir(), "llmc-team-")));
  const handles = createHandles(handlesOptions.parse({}), {
    state_dir: root,
    roots: createRoots({ roots: [root] }),
    openShared: postgres.open,
  });
  const handle = await handles.put(ANN, "kept", { kind: "output" });
  await own.stop();
  await expect(handles.put(ANN, "lost", { kind: "output" })).rejects.toMatchObject({
    code: "store_unavailable",
    retryable: true,
  });
  await own.start();
  expect((await handles.readLines(ANN, handle, 0, 1)).content).toBe("kept");
  await handles.close();
  await postgres.close();
  rmSync(root, { recursive: true });
}, 60_000);
