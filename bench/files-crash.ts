/** `node bench/files-crash.ts [operations]`: writes, appends, edits, moves, deletes and patches under SIGKILL; exits 1 when a byte is lost. */
import { crashTest } from "../tests/security/files/crash.ts";

const report = await crashTest(Number(process.argv[2] ?? 1000), 60);
console.log(JSON.stringify(report, null, 2));
if (report.broken.length > 0 || report.temps_left > 0 || report.locks_left > 0) process.exitCode = 1;
