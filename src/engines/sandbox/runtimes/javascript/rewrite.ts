import { scan } from "./scan.ts";

/**
 * Makes a cell of a module's source: what it declares at the top level stays for the next cell and may be declared again,
 * and its static imports become dynamic ones, which a script may have.
 */
export function asCell(source: string): string {
  const { statements, closes, whole } = scan(source);
  if (!whole) return source;
  let out = "";
  let from = 0;
  const replace = (at: number, end: number, text: string) => {
    // Lines keep their numbers, for the sake of messages.
    const lines = source.slice(at, end).split("\n").length - text.split("\n").length;
    out += source.slice(from, at) + text + "\n".repeat(Math.max(0, lines));
    from = end;
  };
  for (const { at, word } of statements) {
    if (at < from) continue;
    const rest = source.slice(at);
    if (word === "const") replace(at, at + 5, "var  ");
    else if (word === "let" && /^let\s+[\w$[{]/.test(rest)) replace(at, at + 3, "var");
    else if (word === "class") asVariable(at, rest);
    else if (word === "import") {
      const made = importOf(rest);
      if (made) replace(at, at + made.length, made.text);
    } else if (word === "export") asPlain(at, rest);
  }
  return out + source.slice(from);

  function asVariable(at: number, rest: string): void {
    const named = /^class\s+([\w$]+)/.exec(rest);
    const body = [...closes.keys()].find((open) => open > at);
    if (!named || named[1] === "extends" || body === undefined) return;
    const end = closes.get(body)! + 1;
    replace(at, end, `var ${named[1]} = ${source.slice(at, end)};`);
  }

  function asPlain(at: number, rest: string): void {
    const list = /^export\s*\{[^}]*\}\s*;?/.exec(rest);
    if (list) return replace(at, at + list[0].length, "");
    const byDefault = /^export\s+default\s+(?!(async\s+)?function\b|class\b)/.exec(rest);
    if (byDefault) return replace(at, at + byDefault[0].length, "var exported = ");
    const declaration = /^export\s+(default\s+)?/.exec(rest)!;
    const after = at + declaration[0].length;
    const kind = /^(const|let)\b/.exec(source.slice(after));
    replace(at, after + (kind ? kind[0].length : 0), kind ? "var" : "");
  }
}

function importOf(rest: string): { length: number; text: string } | undefined {
  const bare = /^import\s*(["'])([^"'\n]+)\1\s*;?/.exec(rest);
  if (bare) return { length: bare[0].length, text: `await import(${JSON.stringify(bare[2])});` };
  const full = /^import\s+([\w$\s{},*]+?)\s+from\s*(["'])([^"'\n]+)\2(\s+with\s*\{[^}]*\})?\s*;?/.exec(rest);
  if (!full) return undefined;
  const bindings = bindingsOf(full[1]!);
  if (!bindings) return undefined;
  const module = `__interop(await import(${JSON.stringify(full[3])}))`;
  return { length: full[0].length, text: bindings.map((name) => `var ${name} = ${module};`).join(" ") };
}

/** `a, {b as c}` -> [`{default: a}`, `{b: c}`]; `* as n` -> [`n`]. */
function bindingsOf(clause: string): string[] | undefined {
  const parts = /^(?:([\w$]+)\s*,?\s*)?(?:\*\s*as\s+([\w$]+)|\{([^}]*)\})?$/.exec(clause.trim());
  if (!parts) return undefined;
  const [, byDefault, space, names] = parts;
  const named = names
    ?.split(",")
    .map((name) => name.trim().replace(/\s+as\s+/, ": "))
    .filter((name) => name !== "");
  return [
    ...(byDefault ? [`{default: ${byDefault}}`] : []),
    ...(space ? [space] : []),
    ...(named ? [`{${named.join(", ")}}`] : []),
  ];
}
