import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

export interface PostgresServer extends AsyncDisposable {
  /** Of a database of its own. */
  readonly url: string;
  /** A new, empty database in the same server. */
  database(): string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Debian keeps the programs of each version in a folder of their own. */
function programs(): string {
  const base = "/usr/lib/postgresql";
  const version = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a))[0] : undefined;
  if (version === undefined) throw new Error("PostgreSQL is missing: sudo apt-get install postgresql");
  return join(base, version, "bin");
}

/** A PostgreSQL on a socket in a folder of its own, gone without a trace afterwards. It refuses to run as root, so root becomes `postgres`. */
export async function startPostgres(): Promise<PostgresServer> {
  const bin = programs();
  const base = mkdtempSync(join(tmpdir(), "llmc-pg-"));
  const data = join(base, "data");
  const isRoot = process.getuid?.() === 0;
  const as = isRoot ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : [];
  if (isRoot) {
    const [uid, gid] = ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" })));
    chownSync(base, uid!, gid!);
  }
  const user = isRoot ? "postgres" : userInfo().username;
  const run = (program: string, ...args: string[]) => {
    const [first, ...rest] = [...as, join(bin, program), ...args];
    execFileSync(first!, rest, { stdio: "ignore", cwd: "/" });
  };
  run("initdb", "-D", data, "-U", user, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync");
  let child: ReturnType<typeof spawn> | undefined;

  async function start(): Promise<void> {
    const settings = ["listen_addresses=", `unix_socket_directories=${base}`, "fsync=off", "max_connections=60"];
    const [first, ...rest] = [...as, join(bin, "postgres"), "-D", data, ...settings.flatMap((each) => ["-c", each])];
    child = spawn(first!, rest, { stdio: "ignore", cwd: "/" });
    for (let tries = 0; tries < 200; tries++) {
      try {
        run("pg_isready", "-q", "-h", base, "-U", user);
        return;
      } catch {
        await setTimeout(50);
      }
    }
    throw new Error("PostgreSQL did not start");
  }

  async function stop(): Promise<void> {
    if (!child) return;
    const gone = new Promise((resolve) => child!.once("exit", resolve));
    // Connections are cut, nothing is waited for.
    child.kill("SIGINT");
    await gone;
    child = undefined;
  }

  let count = 0;
  const database = () => {
    const name = `llmc_${++count}`;
    run("createdb", "-h", base, "-U", user, name);
    return `postgres://${user}@localhost/${name}?host=${encodeURIComponent(base)}`;
  };
  await start();
  return {
    url: database(),
    database,
    start,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(base, { recursive: true, force: true });
    },
  };
}
