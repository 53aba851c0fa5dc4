import { type Dirent, existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { readInside } from "./read-inside.ts";

/** What can be said of a repository from its first level. */
export interface Look {
  readonly name: string;
  /** The first paragraph of the README. */
  readonly about: string;
  /** What to run, and what it does. */
  readonly commands: readonly (readonly [string, string])[];
  readonly folders: readonly string[];
  /** Files that others rely on: manifests of interfaces, schemas, examples of the environment. */
  readonly contracts: readonly string[];
}

const TOLD = 12;

const INTERFACES =
  /^(openapi|swagger)\.(json|ya?ml)$|\.(proto|graphql|avsc)$|^schema\.(sql|json|prisma)$|^\.env\.(example|sample)$/i;

export function lookAt(root: string): Look {
  const entries = entriesOf(root);
  const manifest = packageJson(root);
  const folders = entries.filter(
    (entry) => entry.isDirectory() && !/^(\.|node_modules$|vendor$|dist$|build$|target$)/.test(entry.name),
  );
  const inside = folders.flatMap(({ name }) => entriesOf(join(root, name)).map((entry) => join(name, entry.name)));
  const files = [...entries.filter((entry) => entry.isFile()).map((entry) => entry.name), ...inside];
  return {
    name: manifest.name ?? basename(root),
    about: firstParagraph(readInside(root, "README.md") ?? ""),
    commands: [...scripts(root, manifest), ...toolchains(root)].slice(0, TOLD),
    folders: folders.map(({ name }) => name).slice(0, TOLD),
    contracts: [...manifest.offers, ...files.filter((file) => INTERFACES.test(basename(file)))].slice(0, TOLD),
  };
}

interface Manifest {
  readonly name: string | undefined;
  readonly scripts: Readonly<Record<string, string>>;
  readonly offers: readonly string[];
}

function packageJson(root: string): Manifest {
  try {
    const read = JSON.parse(readInside(root, "package.json") || "{}") as Record<string, unknown>;
    const { name, scripts, bin, exports } = read;
    const commands =
      typeof bin === "object" && bin !== null ? Object.keys(bin) : bin === undefined ? [] : [String(name)];
    return {
      name: typeof name === "string" ? name : undefined,
      scripts: (scripts ?? {}) as Record<string, string>,
      offers: [
        ...commands.map((command) => `the command ${command}`),
        ...(exports === undefined ? [] : ["what package.json exports"]),
      ],
    };
  } catch {
    return { name: undefined, scripts: {}, offers: [] };
  }
}

function scripts(root: string, { scripts }: Manifest): (readonly [string, string])[] {
  const manager =
    ["pnpm", "yarn", "bun"].find(
      (name) => existsSync(join(root, `${name}-lock.yaml`)) || existsSync(join(root, `${name}.lock`)),
    ) ?? "npm";
  return Object.entries(scripts)
    .filter(([, line]) => typeof line === "string" && line.length < 200)
    .map(([name, line]) => [name === "test" ? `${manager} test` : `${manager} run ${name}`, line] as const);
}

const TOOLCHAINS: readonly (readonly [string, string, string])[] = [
  ["pyproject.toml", "pytest", "the tests"],
  ["Cargo.toml", "cargo test", "the tests"],
  ["go.mod", "go test ./...", "the tests"],
  ["Makefile", "make", "see the Makefile"],
];

function toolchains(root: string): (readonly [string, string])[] {
  return TOOLCHAINS.filter(([file]) => existsSync(join(root, file))).map(([, command, about]) => [command, about]);
}

/** The first lines of prose: no heading, badge, quote, table, list or code. */
function firstParagraph(text: string): string {
  const paragraphs = text.replace(/```[\s\S]*?```|<!--[\s\S]*?-->/g, "").split(/\r?\n\s*\r?\n/);
  const prose = paragraphs.find((part) => /^[A-Za-z*_`]/.test(part.trim()) && !/\]\(https?:[^)]*badge/.test(part));
  const line = (prose ?? "").replace(/\s+/g, " ").trim();
  return line.length <= 300 ? line : `${line.slice(0, line.lastIndexOf(" ", 300))} …`;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
