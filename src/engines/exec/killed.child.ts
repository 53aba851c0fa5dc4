/** A server that is about to be killed: it starts what a client asked for and waits. Arguments: level, text that marks the children. */
import { ME, testExec } from "./test-exec.ts";

const [, , level, mark] = process.argv;
const test = testExec({ run_cmd_trust: "host" }, level === "bwrap" ? {} : { bwrap: null });
const script = `
  const { spawn } = require("child_process");
  process.on("SIGTERM", () => {});
  spawn(process.execPath, ["-e", "setInterval(()=>{}, 1e6) // ${mark}"], { detached: true, stdio: "ignore" });
  spawn(process.execPath, ["-e", "process.on('SIGTERM',()=>{}); setInterval(()=>{}, 1e6) // ${mark}"], { stdio: "ignore" });
  console.log("up");
  setInterval(() => {}, 1e6) // ${mark}`;
const signal = new AbortController().signal;
const command = await test.exec.allow({ argv: ["node", "-e", script] });
await test.exec.processes.start(ME, command, { pty: false, wait_for: "up", wait_s: 20, signal });
void test.run(["node", "-e", script], { timeout_s: 600 });
void test.run(["sleep", `600.${level === "bwrap" ? 1 : 2}${mark!.replace(/\D/g, "")}`], { timeout_s: 600 });
process.stdout.write(`${test.root}\n`);
setInterval(() => {}, 1e6);
