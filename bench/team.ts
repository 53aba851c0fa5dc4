/** Two replicas and PostgreSQL on this machine. `node bench/team.ts [seconds of chaos, 0 for none]` */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { createLocks } from "../src/engines/fs/locks/index.ts";
import { maaslOptions } from "../src/engines/fs/options.ts";
import { thisProcess } from "../src/engines/fs/process.ts";
import { LOCKS } from "../src/engines/fs/store.ts";
import { LOCAL } from "../tests/harness/bed.ts";
import { startCaddy } from "../tests/harness/caddy.ts";
import { startHttp, TOKEN } from "../tests/harness/http.ts";
import { startPostgres } from "../tests/harness/postgres.ts";
import { startReplicas } from "../tests/harness/replicas.ts";
import { temp } from "../tests/harness/temp.ts";
import { chaos } from "../tests/team/chaos.ts";

const SECONDS = Number(process.argv[2] ?? 60);
const ROUNDS = 100;
/** Some of it comes again and again, as text that was read and what was made of it do; or nothing does, as in packed data. */
const FILLS = {
  "1 MB that does not compress, 19 times": `for (let at = part; at < d.length; at += part) d.set(d.subarray(0, part), at);`,
  "20 MB that do not compress": `const w = new Uint32Array(d.buffer); for (let i = part / 4; i < w.length; i++) w[i] = next();`,
};
const { signal } = new AbortController();
const server = await startPostgres();
const url = server.database();
const team = startReplicas(url, { "a.txt": "x\n" });
const bare = new pg.Client({ connectionString: url });
bare.on("error", () => {});
await bare.connect();
await bare.query("CREATE TABLE bare (id BIGSERIAL PRIMARY KEY, data BYTEA)");

try {
  console.table([...(await handleRows()), await leaseRow()]);
  await resume();
  await bare.end();
  await team[Symbol.asyncDispose]();
  await stats();
  if (SECONDS > 0) await disorder();
} finally {
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

/** What needs no round trip goes on when there is nothing to go to. */
async function stats(): Promise<void> {
  using folder = temp();
  using states = temp();
  writeFileSync(join(folder.path, "llmc.toml"), "[mcp.store]\nbackend = 'postgres'\n");
  const env = (index: number) => ({ LLMC_STORE_URL: url, LLMC_STATE_DIR: join(states.path, String(index)) });
  const replicas = await Promise.all([0, 1].map((index) => startHttp(folder.path, { env: env(index) })));
  const caddy = await startCaddy(
    "team/Caddyfile",
    replicas.map((replica) => replica.url),
  );
  const headers = { "content-type": "application/json", "x-llmc-token": TOKEN };
  const body = JSON.stringify({ name: "stat", args: { path: "llmc.toml" } });
  const ask = async (count: number) => {
    const times: number[] = [];
    for (let call = 0; call < count; call++) {
      const began = performance.now();
      const response = await fetch(`${caddy.url}/tool`, { method: "POST", body, headers });
      await response.text();
      if (response.status === 200) times.push(performance.now() - began);
    }
    return times;
  };
  await ask(100);
  const there = await ask(500);
  await server.stop();
  const away = await ask(500);
  await server.start();
  for (const one of [caddy, ...replicas]) await one[Symbol.asyncDispose]();
  console.log(
    `500 x stat through Caddy: ${there.length} answered, p50 ${median(there).toFixed(2)} ms; with PostgreSQL stopped ${away.length}, p50 ${median(away).toFixed(2)} ms (goal: no round trip)`,
  );
}

async function resume(): Promise<void> {
  const call = (bed: typeof team.a, session_id: string, code: string) =>
    bed.payload<{ result: unknown }>("execute_code", { session_id, language: "javascript", code });
  await call(team.b, "none", "1");
  const rows = [];
  for (const [what, fill] of Object.entries(FILLS)) {
    const { session_id } = await team.a.payload<{ session_id: string }>("create_session", { language: "javascript" });
    const first = `let s = 7; const d = globalThis.data = new Uint8Array(19 << 20), part = 1 << 20;
      const next = () => { s ^= s << 13; s ^= s >>> 17; s ^= s << 5; return s; };
      for (let i = 0; i < part; i++) d[i] = next(); ${fill} d.length`;
    await call(team.a, session_id, first);
    const [resumed, whole, plain]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < 15; round++) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const began = Date.now();
      const { result } = await call(round % 2 === 0 ? team.b : team.a, session_id, "Date.now()");
      resumed.push(Number(result) - began);
      whole.push(Date.now() - began);
      const fetching = Date.now();
      await bare.query("SELECT image FROM llmc.images WHERE session_id = $1", [session_id]);
      plain.push(Date.now() - fetching);
    }
    const { sessions } = await team.a.payload<{ sessions: { session_id: string; bytes: number }[] }>(
      "get_active_sessions",
      {},
    );
    const { bytes } = sessions.find((one) => one.session_id === session_id)!;
    rows.push({
      "session with 20 MB of memory": what,
      "stored MB": (bytes / 1024 ** 2).toFixed(1),
      "code runs on the other replica, ms": spread(resumed),
      goal: "<= 250",
      "saved and answered, ms": spread(whole),
      "bare SELECT of what is stored, ms": spread(plain),
    });
    await team.a.payload("destroy_session", { session_id });
  }
  console.table(rows);
}

async function disorder(): Promise<void> {
  for (const through of ["caddy", "haproxy"] as const) {
    const { kills, other_errors, ...rows } = await chaos({
      url: server.database(),
      through,
      seconds: SECONDS,
      per_second: 100,
      kill_every_s: 10,
    });
    console.log(
      `${SECONDS} s through ${through}, ${kills} replicas killed, errors that no kill explains: ${other_errors.length}`,
    );
    console.table(rows);
    for (const error of new Set(other_errors)) console.log(error);
  }
}

/** The best, the median and the worst: beside other work they lie far apart. */
function spread(values: readonly number[]): string {
  return [Math.min(...values), median(values), Math.max(...values)].join(" / ");
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
