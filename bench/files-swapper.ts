/** `node bench/files-swapper.ts [seconds]`: every file operation beside a process that swaps files and folders for links; exits 1 on a leak. */
import { swapTest } from "../tests/security/files/swapper.ts";

const report = await swapTest(Number(process.argv[2] ?? 60) * 1000);
console.log(JSON.stringify(report, null, 2));
if (report.leaks.length > 0) process.exitCode = 1;
