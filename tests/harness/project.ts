import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const MODULES = ["users", "orders", "billing", "search", "mail", "audit"];

/** A small project with a history of two authors, tests that fail, configs that drift, a log, and vendored packages. */
export function writeProject(root: string, log_lines = 20_000): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const git = (author: string, ...args: string[]) =>
    execFileSync("git", ["-c", `user.name=${author}`, "-c", `user.email=${author}@example.org`, ...args], {
      cwd: root,
      stdio: "ignore",
    });

  write(".gitignore", "node_modules\nlogs\n.llmc\nREPORT.md\n");
  for (const [index, name] of MODULES.entries()) {
    const body = Array.from({ length: 4 + index * 3 }, (_, line) => `  const step${line} = input + ${line};`);
    const uses = index === 0 ? [] : ['import { fetchUser } from "./users.ts";', ""];
    const call = index === 0 ? [] : ["  void fetchUser(input);"];
    write(
      `src/${name}.ts`,
      [
        ...uses,
        `// TODO: bound the ${name}`,
        `export function run${name}(input: number): number {`,
        ...call,
        ...body,
        "  return input;",
        "}",
        "",
        index === 0
          ? "export async function fetchUser(id: number) {\n  return { id };\n}\n"
          : `export const ${name}_unused = ${index};\n`,
      ].join("\n"),
    );
  }
  write(
    "src/main.ts",
    `${MODULES.map((name) => `import { run${name} } from "./${name}.ts";`).join("\n")}\n${MODULES.map((name) => `run${name}(1);`).join("\n")}\n`,
  );
  write("config/staging.json", JSON.stringify({ port: 8080, replicas: 1, debug: true, region: "eu" }, null, 2));
  write("config/production.json", JSON.stringify({ port: 8080, replicas: 4, region: "eu", cache: "on" }, null, 2));
  write("scripts/run-tests.mjs", testScript());
  git("Ada", "init", "-q");
  git("Ada", "add", "-A");
  git("Ada", "commit", "-qm", "begin");
  write(
    "src/mail.ts",
    `// TODO: retry\n// TODO: templates\nexport function runmail(input: number): number {\n  console.log(input);\n  return input;\n}\n\nexport const mail_unused: any = 4;\n`,
  );
  git("Grace", "commit", "-qam", "mail");

  for (const [index, name] of Array.from({ length: 30 }, (_, index) => [index, `package-${index}`] as const))
    write(
      `node_modules/${name}/package.json`,
      JSON.stringify({
        name,
        version: "1.0.0",
        license: index % 10 === 3 ? "GPL-3.0" : index === 17 ? undefined : "MIT",
      }),
    );
  const lines = Array.from({ length: log_lines }, (_, index) => {
    const time = new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString().slice(0, 19);
    return index % 997 === 0
      ? `${time} ERROR request failed code=${["E42", "E7"][index % 2]} user=${index}`
      : `${time} INFO request served in ${index % 90} ms`;
  });
  write("logs/app.log", `${lines.join("\n")}\n`);
}

/** 600 tests, five of which fail. */
function testScript(): string {
  return `const modules = ${JSON.stringify(MODULES)};
console.log("TAP version 13");
for (let index = 1; index <= 600; index++) {
  const bad = index % 113 === 0;
  console.log(\`\${bad ? "not ok" : "ok"} \${index} - \${modules[index % modules.length]}: case \${index} holds for every input it was given\`);
  if (bad) console.log(\`  ---\\n  message: expected \${index} to equal \${index + 1}\\n  at: src/\${modules[index % modules.length]}.ts:\${index % 40}\\n  ...\`);
}
console.log("1..600");
process.exit(1);
`;
}
