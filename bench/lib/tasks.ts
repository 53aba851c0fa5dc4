import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { NextStep, Operations, Step } from "../peers/types.ts";

/** What a model is asked for, the shortest way to it with our tools and with another server's, and what it must have seen or changed in the end. */
export interface Task {
  readonly name: string;
  readonly hybrid: readonly Step[];
  readonly code_execution: readonly Step[];
  /** With whatever operations a server has; undefined: it cannot be done there. */
  elsewhere(on: Operations): NextStep[] | undefined;
  /** Judges the answers and the project. */
  done(answers: string, root: string): boolean;
}

const SLUG = `export function slug(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

export function unslug(text: string): string {
  const words = text.split("-");
  return words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join(" ");
}
`;

/** 40 files of its own, 300 vendored and ignored ones, twelve TODOs, a test script with three failures. */
export function writeTaskProject(root: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const filler = (name: string, lines: number) =>
    Array.from({ length: lines }, (_, line) => `export const ${name}${line} = ${line};`).join("\n");
  mkdirSync(join(root, ".git"), { recursive: true });
  write(".gitignore", "node_modules\n");
  write("package.json", JSON.stringify({ name: "project", scripts: { test: "node scripts/run-tests.mjs" } }, null, 2));
  write("README.md", "# Project\n\nA project for tasks.\n".repeat(5));
  write(
    "config/app.json",
    JSON.stringify({ name: "app", host: "0.0.0.0", port: 8080, log: { level: "info" } }, null, 2),
  );
  write(
    "src/net/retry.ts",
    `${filler("before", 20)}\nexport function computeRetryDelay(attempt: number, base = 100): number {\n  const exponential = base * 2 ** attempt;\n  const jitter = Math.random() * base;\n  return Math.min(30_000, exponential + jitter);\n}\n${filler("after", 20)}\n`,
  );
  write(
    "src/net/client.ts",
    `export const MAX_ATTEMPTS = 3;\nif (MAX_ATTEMPTS > 5) throw new Error(\`\${MAX_ATTEMPTS}\`);\n${filler("net", 30)}\nexport const twice = MAX_ATTEMPTS + MAX_ATTEMPTS;\n`,
  );
  for (let index = 0; index < 12; index++)
    write(`src/lib/part${index}.ts`, `${filler("part", 10)}\n// TODO: finish step ${index} of the plan\n`);
  for (let index = 0; index < 8; index++)
    write(`tools/job${index}.py`, `def job${index}():\n    return ${index}\n`.repeat(4));
  for (let index = 0; index < 5; index++) write(`styles/page${index}.css`, `.page${index} { color: red; }\n`.repeat(6));
  for (let index = 0; index < 6; index++) write(`docs/page${index}.md`, `# Page ${index}\n\nText.\n`);
  write("src/index.ts", filler("index", 12));
  write("src/util/text.ts", filler("text", 12));
  for (let index = 0; index < 300; index++)
    write(`node_modules/pkg${index}/index.js`, `// TODO: vendored ${index}\nmodule.exports = ${index};\n`);
  write(
    "scripts/run-tests.mjs",
    `const bad = { 103: "expected 5 to equal 6", 258: "timeout after 2000 ms", 430: "cannot read properties of undefined" };
console.log("TAP version 13");
for (let n = 1; n <= 1994; n++) {
  console.log((bad[n] ? "not ok " : "ok ") + n + " - case number " + n + " of the suite");
  if (bad[n]) console.log("  ---\\n  message: " + bad[n] + "\\n  at: src/lib/part" + (n % 12) + ".ts:" + n + "\\n  ...");
}
console.log("1..1994");
process.exitCode = 1;
`,
  );
}

const js = (code: string): Step => ({ name: "execute_code", args: { language: "javascript", code } });
const all = (answers: string, ...texts: string[]) => texts.every((text) => answers.includes(text));
const file = (root: string, path: string) => readFileSync(join(root, path), "utf8");
const FAILURES = ["expected 5 to equal 6", "timeout after 2000 ms", "cannot read properties of undefined"];

export const TASKS: readonly Task[] = [
  {
    name: "T1 find a definition and show its body",
    hybrid: [{ name: "run_cmd", args: { command: "rg -n -A5 'function computeRetryDelay'" } }],
    code_execution: [
      js(
        '(await tools.linux_search_content({root:".",pattern:"function computeRetryDelay",context_lines:5})).hits.map(h=>h.path+"\\n"+h.snippet.slice(h.snippet.indexOf("export function"))).join()',
      ),
    ],
    elsewhere: (on) => on.search?.("function computeRetryDelay", 5),
    done: (answers) => all(answers, "src/net/retry.ts", "exponential", "Math.random() * base", "Math.min(30_000"),
  },
  {
    name: "T2 rename in one file",
    hybrid: [
      {
        name: "linux_fs_edit",
        args: { path: "src/net/client.ts", old_text: "MAX_ATTEMPTS", new_text: "MAX_TRIES", expected_replacements: 5 },
      },
    ],
    code_execution: [
      js(
        '(await tools.linux_fs_edit({path:"src/net/client.ts",old_text:"MAX_ATTEMPTS",new_text:"MAX_TRIES",expected_replacements:5})).replacements',
      ),
    ],
    elsewhere: (on) => on.replace?.("src/net/client.ts", "MAX_ATTEMPTS", "MAX_TRIES", 5),
    done: (_answers, root) =>
      file(root, "src/net/client.ts").split("MAX_TRIES").length === 6 &&
      !file(root, "src/net/client.ts").includes("MAX_ATTEMPTS"),
  },
  {
    name: "T3 project layout, three levels",
    hybrid: [{ name: "run_cmd", args: { command: "rg --files --max-depth 3" } }],
    code_execution: [
      js(
        '(await tools.linux_search_files({root:".",pattern:"*"})).hits.map(h=>h.path).filter(p=>p.split("/").length<4).join("\\n")',
      ),
    ],
    elsewhere: (on) => on.layout?.(3),
    done: (answers) => all(answers, "package.json", "README.md", "app.json", "retry.ts", "client.ts", "run-tests.mjs"),
  },
  {
    name: "T4 change a port in JSON",
    hybrid: [
      { name: "read_file", args: { path: "config/app.json" } },
      { name: "linux_fs_edit", args: { path: "config/app.json", old_text: '"port": 8080', new_text: '"port": 9090' } },
    ],
    code_execution: [
      js(
        'const p="config/app.json",c=(await tools.read_file(p)).data; await tools.linux_fs_edit({path:p,old_text:\'"port": 8080\',new_text:\'"port": 9090\'}); c',
      ),
    ],
    elsewhere: (on) =>
      on.read &&
      on.replace && [
        ...on.read("config/app.json"),
        ...on.replace("config/app.json", '"port": 8080', '"port": 9090', 1),
      ],
    done: (_answers, root) => {
      const config = JSON.parse(file(root, "config/app.json")) as { port: number; log: { level: string } };
      return config.port === 9090 && config.log.level === "info";
    },
  },
  {
    name: "T5 run the tests, see the failures",
    hybrid: [{ name: "run_cmd", args: { command: "node scripts/run-tests.mjs" } }],
    code_execution: [js('(await tools.run_cmd({command:"node scripts/run-tests.mjs",raw:false})).data.stdout')],
    elsewhere: (on) => on.run?.("node scripts/run-tests.mjs"),
    done: (answers) => all(answers, ...FAILURES),
  },
  {
    name: "T6 the TODOs of the project",
    hybrid: [{ name: "run_cmd", args: { command: "rg -n TODO" } }],
    code_execution: [
      js(
        '(await tools.linux_search_content({root:".",pattern:"TODO",context_lines:0})).hits.map(h=>h.path+":"+h.line+" "+h.snippet).join("\\n")',
      ),
    ],
    elsewhere: (on) => on.search?.("TODO", 0),
    done: (answers) =>
      Array.from({ length: 12 }, (_, step) => `finish step ${step} of`).every((text) => answers.includes(text)) &&
      !answers.includes("vendored"),
  },
  {
    name: "T7 lines by language",
    hybrid: [
      js(
        'const n={};for(const{path}of(await tools.linux_search_files({root:".",pattern:"*.{ts,py,css,md}"})).hits){const k=path.split(".").pop();n[k]=(n[k]??0)+(await tools.read_file(path)).data.split("\\n").length-1}n',
      ),
    ],
    code_execution: [
      js(
        'const n={};for(const{path}of(await tools.linux_search_files({root:".",pattern:"*.{ts,py,css,md}"})).hits){const k=path.split(".").pop();n[k]=(n[k]??0)+(await tools.read_file(path)).data.split("\\n").length-1}n',
      ),
    ],
    elsewhere: (on) =>
      on.shell?.(
        "for e in ts py css md; do echo $e $(find . -name \"*.$e\" -not -path './node_modules/*' -exec cat {} + | wc -l); done",
      ),
    done: (answers) =>
      /\bts"?[: ]+\d+/.test(answers) &&
      /\bpy"?[: ]+64/.test(answers) &&
      /\bcss"?[: ]+30/.test(answers) &&
      /\bmd"?[: ]+\d+/.test(answers),
  },
  {
    name: "T8 create a file",
    hybrid: [{ name: "linux_fs_write", args: { path: "src/util/slug.ts", content: SLUG } }],
    code_execution: [js(`await tools.linux_fs_write({path:"src/util/slug.ts",content:${JSON.stringify(SLUG)}});1`)],
    elsewhere: (on) => on.write?.("src/util/slug.ts", SLUG),
    done: (_answers, root) => file(root, "src/util/slug.ts") === SLUG,
  },
];
