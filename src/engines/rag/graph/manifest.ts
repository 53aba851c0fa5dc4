/** What a project's own files say about where its modules are. */
export type Manifest =
  | {
      readonly is: "package";
      readonly name: string;
      /** Where the package is entered, by what is asked for: "." or "./sub". */
      readonly entries: Readonly<Record<string, readonly string[]>>;
    }
  | {
      readonly is: "tsconfig";
      readonly base?: string | undefined;
      readonly paths: Readonly<Record<string, readonly string[]>>;
      readonly extends?: string | undefined;
    }
  | { readonly is: "go"; readonly module: string }
  | { readonly is: "cargo"; readonly name: string };

const MAX_TEXT = 256 * 1024;
const MAX_ENTRIES = 200;

export function manifestOf(path: string, text: string): Manifest | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const name = path.slice(path.lastIndexOf("/") + 1);
  try {
    if (name === "package.json") return packageOf(JSON.parse(text) as Record<string, unknown>);
    if (/^(ts|js)config(\..*)?\.json$/.test(name))
      return tsconfigOf(JSON.parse(plain(text)) as Record<string, unknown>);
  } catch {
    // A file of that name that says nothing that can be read.
    return undefined;
  }
  if (name === "go.mod") return found(/^module\s+"?([^\s"]+)/m.exec(text), (module) => ({ is: "go", module }));
  if (name === "Cargo.toml")
    return found(/^\[package\][^[]*?^name\s*=\s*"([^"]+)"/ms.exec(text), (crate) => ({ is: "cargo", name: crate }));
  return undefined;
}

function found(match: RegExpExecArray | null, make: (text: string) => Manifest): Manifest | undefined {
  return match ? make(match[1]!) : undefined;
}

function packageOf(json: Record<string, unknown>): Manifest | undefined {
  if (typeof json["name"] !== "string") return undefined;
  const entries: Record<string, string[]> = {};
  const add = (key: string, value: unknown, depth = 0): void => {
    if (typeof value === "string") (entries[key] ??= []).push(value);
    else if (value !== null && typeof value === "object" && depth < 4)
      for (const one of Object.values(value)) add(key, one, depth + 1);
  };
  const exported = json["exports"];
  if (exported !== null && typeof exported === "object")
    for (const [key, value] of Object.entries(exported).slice(0, MAX_ENTRIES))
      add(key.startsWith(".") ? key : ".", value);
  else add(".", exported);
  for (const key of ["source", "types", "module", "main"]) add(".", json[key]);
  return { is: "package", name: json["name"], entries };
}

function tsconfigOf(json: Record<string, unknown>): Manifest {
  const options = (json["compilerOptions"] ?? {}) as Record<string, unknown>;
  const paths: Record<string, string[]> = {};
  for (const [key, value] of Object.entries((options["paths"] ?? {}) as Record<string, unknown>).slice(0, MAX_ENTRIES))
    if (Array.isArray(value)) paths[key] = value.filter((one) => typeof one === "string");
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  return { is: "tsconfig", base: text(options["baseUrl"]), paths, extends: text(json["extends"]) };
}

/** Without comments and trailing commas, which such files may have. */
function plain(text: string): string {
  return text
    .replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_, quoted?: string) => quoted ?? "")
    .replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, quoted?: string) => quoted ?? "");
}
