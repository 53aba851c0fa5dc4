/** Two replicas and PostgreSQL on this machine. `node bench/team.ts [seconds of chaos, 0 for none]` */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { createLocks } from "../src/engines/fs/locks/index.ts";
import { maaslOptions } from "../src/engines/fs/options.ts";
import { thisProcess } from "../src/engines/fs/process.ts";
import { LOCKS } from "../src/engines/fs/store.ts";
import { LOCAL } from "../tests/harness/bed.ts";
import { startPostgres } from "../tests/harness/postgres.ts";
import { startReplicas } from "../tests/harness/replicas.ts";
import { chaos } from "../tests/team/chaos.ts";

const SECONDS = Number(process.argv[2] ?? 60);
const ROUNDS = 100;
const { signal } = new AbortController();
const server = await startPostgres();
const url = server.database();
const team = startReplicas(url, { "a.txt": "x\n" });
const bare = new pg.Client({ connectionString: url });
await bare.connect();
await bare.query("CREATE TABLE bare (id BIGSERIAL PRIMARY KEY, data BYTEA)");

try {
  console.table([...(await handleRows()), await leaseRow()]);
  await stats();
  await resume();
  if (SECONDS > 0) await disorder();
} finally {
  await bare.end();
  await team[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
}

async function handleRows() {
  const [a, b] = [await team.a.app.engines.handles(), await team.b.app.engines.handles()];
  const rows = [];
  for (const size of [10 * 1024, 1024 ** 2]) {
    const row = await race(
      `handle put on A + get on B, ${size / 1024} KB`,
      async () => {
        const handle = await a.put(LOCAL, randomBytes(size), { kind: "output" });
        await b.readBytes(LOCAL, handle, 0, size);
      },
      async () => {
        const { rows } = await bare.query("INSERT INTO bare (data) VALUES ($1) RETURNING id", [randomBytes(size)]);
        await bare.query("SELECT data FROM bare WHERE id = $1", [rows[0].id]);
      },
      "INSERT + SELECT",
    );
    rows.push(row);
  }
  return rows;
}

async function leaseRow() {
  const db = await team.a.app.shared!.open(LOCKS);
  const locks = createLocks(maaslOptions.parse({}), db, thisProcess(), async () => {});
  return race(
    "lease acquire + release",
    async () => (await locks.take([{ real: "/x.ts", shown: "x.ts" }], "bench", signal)).release(),
    async () => {
      await bare.query("BEGIN");
      await bare.query("INSERT INTO bare (data) VALUES (NULL)");
      await bare.query("COMMIT");
    },
    "BEGIN, INSERT, COMMIT",
  );
}

async function race(name: string, ours: () => Promise<unknown>, floor: () => Promise<unknown>, floorName: string) {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, work] of [ours, floor].entries()) {
      const began = performance.now();
      await work();
      times[index]!.push(performance.now() - began);
    }
  const [mine, theirs] = times.map(median) as [number, number];
  return {
    what: name,
    "ours p50 ms": mine.toFixed(2),
    floor: floorName,
    "floor p50 ms": theirs.toFixed(2),
    ratio: (mine / theirs).toFixed(2),
    goal: "<= 3",
  };
}

/** Transactions that PostgreSQL counted while files were looked at through both replicas. */
async function stats(): Promise<void> {
  const count = async () => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const { rows } = await bare.query(
      "SELECT xact_commit + xact_rollback AS n FROM pg_stat_database WHERE datname = current_database()",
    );
    return Number(rows[0].n);
  };
  const idle = -(await count()) + (await count());
  const before = await count();
  for (let call = 0; call < 500; call++) await (call % 2 === 0 ? team.a : team.b).payload("stat", { path: "a.txt" });
  const used = (await count()) - before - idle;
  console.log(`500 x stat over both replicas: ${Math.max(0, used)} store transactions (goal 0)`);
}

async function resume(): Promise<void> {
  const call = (bed: typeof team.a, session_id: string, code: string) =>
    bed.payload<{ result: unknown }>("execute_code", { session_id, language: "javascript", code });
  const { session_id } = await team.a.payload<{ session_id: string }>("create_session", { language: "javascript" });
  await call(team.b, "none", "1");
  await call(
    team.a,
    session_id,
    "globalThis.data = new Uint8Array(19 * 1024 * 1024).map((_, i) => (i * 2654435761) >>> 24); data.length",
  );
  const times: number[] = [];
  for (let round = 0; round < 6; round++) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    const began = performance.now();
    await call(round % 2 === 0 ? team.b : team.a, session_id, "data.length");
    times.push(performance.now() - began);
  }
  const { sessions } = await team.a.payload<{ sessions: { bytes: number }[] }>("get_active_sessions", {});
  console.log(
    `a session of ${(sessions[0]!.bytes / 1024 ** 2).toFixed(0)} MB resumed, run and saved on the other replica: p50 ${median(times).toFixed(0)} ms (goal <= 250 ms for the resume)`,
  );
}

async function disorder(): Promise<void> {
  const { other_errors, ...report } = await chaos({
    url: server.database(),
    seconds: SECONDS,
    per_second: 100,
    kill_every_s: 10,
  });
  console.table([{ ...report, "other errors": other_errors.length }]);
  for (const error of new Set(other_errors)) console.log(error);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
