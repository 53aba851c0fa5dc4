import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Step } from "../peers/types.ts";
import type { Task } from "./tasks.ts";

const HOURS = 24;

/** A small workspace under git with a history, a broken build, a flaky test, old settings and a log of 5 MB. */
export function writeWorkProject(root: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const git = (...args: string[]) =>
    execFileSync(
      "git",
      ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "init.defaultBranch=main", ...args],
      {
        cwd: root,
        stdio: "ignore",
      },
    );
  write(".gitignore", "node_modules\nvar\n");
  for (const name of ["api", "web", "jobs"]) {
    const manifest = {
      name,
      version: "1.0.0",
      dependencies: { "left-pad": "^1.2.0", [name === "api" ? "hono" : "dayjs"]: "^4.0.0" },
    };
    write(`packages/${name}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
    write(
      `packages/${name}/src/index.ts`,
      `import { fetchUser } from "../../shared/src/users.ts";\n\nexport const ${name}Main = async (id: string) => {\n  const user = await fetchUser(id);\n  return fetchUser(user.manager ?? id);\n};\n`,
    );
  }
  write(
    "packages/shared/src/users.ts",
    "export interface User { id: string; manager?: string }\n\nexport async function fetchUser(id: string): Promise<User> {\n  return { id };\n}\n\nexport function unusedHelper(user: User): string {\n  return user.id.trim();\n}\n\nexport function formatUser(user: User): string {\n  return `user ${user.id}`;\n}\n\nexport const OLD_LIMIT = 3;\n",
  );
  write(
    "packages/shared/src/report.ts",
    'import { formatUser } from "./users.ts";\n\nexport const report = () => formatUser({ id: "1" });\n',
  );
  write(
    "packages/web/src/page.ts",
    'import { report } from "../../shared/src/report.ts";\n\nexport const page = () => report();\nconsole.log(page());\n',
  );
  for (let n = 0; n < 6; n++)
    write(
      `settings/env${n}.json`,
      `${JSON.stringify({ name: `env${n}`, log: { level: n % 2 ? "info" : "warn" }, port: 8000 + n }, null, 2)}\n`,
    );
  write(
    "scripts/build.mjs",
    `import { readFileSync } from "node:fs";
for (let n = 0; n < 300; n++) console.log(\`[build] compiled packages/part\${n}/src/index.ts in \${n % 7} ms\`);
const text = readFileSync("packages/jobs/src/queue.ts", "utf8");
const at = text.split("\\n").findIndex((line) => line.includes("retires"));
if (at >= 0) { console.error(\`packages/jobs/src/queue.ts(\${at + 1},23): error TS2551: Property 'retires' does not exist on type 'Job'. Did you mean 'retries'?\`); process.exitCode = 2; } else console.log("[build] done");
`,
  );
  write(
    "packages/jobs/src/queue.ts",
    "interface Job { retries: number }\n\nexport function again(job: Job): boolean {\n  return job.retires < 3;\n}\n",
  );
  write(
    "scripts/flaky.mjs",
    `import { existsSync, readFileSync, writeFileSync } from "node:fs";
const file = "var/runs"; const run = existsSync(file) ? Number(readFileSync(file, "utf8")) + 1 : 1; writeFileSync(file, String(run));
console.log("TAP version 13");
for (let n = 1; n <= 200; n++) console.log((n === 117 && run % 4 === 0 ? "not ok " : "ok ") + n + " - " + (n === 117 ? "retries when the queue is full" : "case number " + n));
console.log("1..200");
process.exitCode = run % 4 === 0 ? 1 : 0;
`,
  );
  write("var/.keep", "");
  write("var/app.log", appLog());
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "everything");
  write(
    "packages/shared/src/users.ts",
    readFileSync(join(root, "packages/shared/src/users.ts"), "utf8").replace(
      "return { id };",
      "const answer = await fetch(`/users/${id}`);\n  return (await answer.json()) as User;",
    ),
  );
  git("commit", "-qam", "fetch users from the service");
}

/** A day of requests; between four and five in the afternoon one customer's payments time out. */
function appLog(): string {
  const lines: string[] = [];
  for (let n = 0; n < 52_000; n++) {
    const hour = Math.floor((n / 52_000) * HOURS);
    const bad = (hour === 16 && n % 9 === 0) || n % 4000 === 0;
    const time = `2026-03-04T${String(hour).padStart(2, "0")}:${String(n % 60).padStart(2, "0")}:${String((n * 7) % 60).padStart(2, "0")}Z`;
    lines.push(
      bad
        ? `${time} ERROR payments request=${n} customer=${hour === 16 ? "c-881" : `c-${n % 500}`} message="gateway timeout after 30000 ms"`
        : `${time} INFO http request=${n} customer=c-${n % 500} path=/orders status=200 took=${n % 90}ms`,
    );
  }
  return `${lines.join("\n")}\n`;
}

const js = (code: string): Step => ({ name: "execute_code", args: { language: "javascript", code } });
const both = (steps: readonly Step[]) => ({ hybrid: steps, code_execution: steps });
const file = (root: string, path: string) => readFileSync(join(root, path), "utf8");
const PACKAGES = ["api", "web", "jobs"];
const MENDED = js(
  'await tools.linux_fs_edit({path:"packages/jobs/src/queue.ts",old_text:"retires",new_text:"retries"});(await tools.run_cmd({command:"node scripts/build.mjs"})).data.exit_code',
);

/** Eight tasks of real work. */
export const WORK_TASKS: readonly Task[] = [
  {
    name: "W1 rename a function in every file",
    ...both([
      js(
        'let n=0;for(const{path}of new Map((await tools.linux_search_content({root:".",pattern:"fetchUser",max_results:200})).hits.map(h=>[h.path,h])).values()){const c=(await tools.read_file(path)).data;n+=(await tools.linux_fs_edit({path,old_text:"fetchUser",new_text:"loadUser",expected_replacements:c.split("fetchUser").length-1})).replacements}n',
      ),
    ]),
    elsewhere: (on) => on.shell?.("grep -rl --exclude-dir=.git fetchUser . | xargs sed -i 's/fetchUser/loadUser/g'"),
    done: (_answers, root) =>
      PACKAGES.every((name) => file(root, `packages/${name}/src/index.ts`).split("loadUser").length === 4) &&
      !file(root, "packages/shared/src/users.ts").includes("fetchUser"),
  },
  {
    name: "W2 mend a failing build",
    hybrid: [{ name: "run_cmd", args: { command: "node scripts/build.mjs" } }, MENDED],
    code_execution: [js('(await tools.run_cmd({command:"node scripts/build.mjs",raw:false})).data'), MENDED],
    elsewhere: (on) =>
      on.run &&
      on.replace && [
        ...on.run("node scripts/build.mjs"),
        ...on.replace("packages/jobs/src/queue.ts", "retires", "retries", 1),
        ...on.run("node scripts/build.mjs"),
      ],
    done: (answers, root) =>
      answers.includes("TS2551") && file(root, "packages/jobs/src/queue.ts").includes("job.retries"),
  },
  {
    name: "W3 bump a dependency everywhere",
    ...both([
      js(
        'for(const{path}of(await tools.linux_search_content({root:".",pattern:"left-pad"})).hits)await tools.linux_fs_edit({path,old_text:\'left-pad": "^1.2\',new_text:\'left-pad": "^1.3\'});0',
      ),
    ]),
    elsewhere: (on) =>
      on.shell?.(
        `grep -rl --exclude-dir=.git left-pad . | xargs sed -i 's/"left-pad": "^1.2.0"/"left-pad": "^1.3.0"/'`,
      ) ??
      (on.replace &&
        PACKAGES.flatMap((name) =>
          on.replace!(`packages/${name}/package.json`, '"left-pad": "^1.2.0"', '"left-pad": "^1.3.0"', 1),
        )),
    done: (_answers, root) =>
      PACKAGES.every((name) => file(root, `packages/${name}/package.json`).includes('"left-pad": "^1.3.0"')),
  },
  {
    name: "W4 exports that nobody imports",
    ...both([
      js(
        'const f={};for(const{path}of(await tools.linux_search_files({root:"packages",pattern:"*.ts"})).hits)f[path]=(await tools.read_file(path)).data;const t=Object.values(f).join("\\n");Object.entries(f).flatMap(([p,c])=>[...c.matchAll(/^export (?:async )?(?:function|const|interface) (\\w+)/gm)].filter(m=>t.split(m[1]).length<3).map(m=>p+" "+m[1]))',
      ),
    ]),
    elsewhere: (on) =>
      on.shell?.(
        "for n in $(grep -rhoE --include=*.ts '^export (async )?(function|const|interface) \\w+' packages | awk '{print $NF}'); do [ $(grep -rwo --include=*.ts $n packages | wc -l) -lt 2 ] && grep -rln --include=*.ts \"export.* $n\" packages | sed \"s/$/ $n/\"; done",
      ),
    done: (answers) =>
      ["unusedHelper", "OLD_LIMIT"].every((name) => answers.includes(name)) &&
      !/formatUser/.test(answers.split("export")[0] ?? ""),
  },
  {
    name: "W5 what went wrong in a log of 5 MB",
    ...both([
      js(
        'const e=(await tools.run_cmd({command:"rg ERROR var/app.log",raw:true})).data.stdout.split("\\n").filter(Boolean);const h={},c={};for(const l of e){h[l.slice(11,13)]=(h[l.slice(11,13)]??0)+1;const k=/customer=(\\S+)/.exec(l)[1];c[k]=(c[k]??0)+1}[h,Object.entries(c).sort((a,b)=>b[1]-a[1])[0],e[0]]',
      ),
    ]),
    elsewhere: (on) =>
      on.shell?.(
        "grep ERROR var/app.log | cut -c12-13 | sort | uniq -c; grep -o 'ERROR.*customer=[^ ]*' var/app.log | grep -o 'customer=.*' | sort | uniq -c | sort -rn | head -1; grep -m1 ERROR var/app.log",
      ),
    done: (answers) => answers.includes("c-881") && answers.includes("16") && answers.includes("gateway timeout"),
  },
  {
    name: "W6 move a key in every settings file",
    ...both([
      js(
        'for(const{path}of(await tools.linux_search_files({root:"settings",pattern:"*.json"})).hits){const c=JSON.parse((await tools.read_file(path)).data);c.logging=c.log;delete c.log;await tools.linux_fs_write({path,content:JSON.stringify(c,null,2)+"\\n",mode:"rewrite"})}0',
      ),
    ]),
    elsewhere: (on) =>
      on.shell?.('sed -i \'s/"log": {/"logging": {/\' settings/*.json') ??
      (on.replace &&
        Array.from({ length: 6 }, (_, n) =>
          on.replace!(`settings/env${n}.json`, '"log": {', '"logging": {', 1),
        ).flat()),
    done: (_answers, root) =>
      Array.from(
        { length: 6 },
        (_, n) => JSON.parse(file(root, `settings/env${n}.json`)) as { log?: unknown; logging?: { level: string } },
      ).every(({ log, logging }) => log === undefined && logging?.level !== undefined),
  },
  {
    name: "W7 which test is flaky",
    ...both([
      js(
        'const bad={};for(let i=0;i<10;i++)for(const l of(await tools.run_cmd({command:"node scripts/flaky.mjs",raw:true})).data.stdout.split("\\n"))if(l.startsWith("not ok"))bad[l]=(bad[l]??0)+1;bad',
      ),
    ]),
    elsewhere: (on) =>
      on.shell?.("for i in 1 2 3 4 5 6 7 8 9 10; do node scripts/flaky.mjs | grep '^not ok'; done | sort | uniq -c"),
    done: (answers) => answers.includes("retries when the queue is full"),
  },
  {
    name: "W8 review the last commit",
    hybrid: [{ name: "run_cmd", args: { command: "git show HEAD" } }],
    code_execution: [js('(await tools.run_cmd({command:"git show HEAD",raw:true})).data.stdout')],
    elsewhere: (on) => on.run?.("git --no-pager show HEAD"),
    done: (answers) => answers.includes("answer.json()") && answers.includes("fetch users from the service"),
  },
];
