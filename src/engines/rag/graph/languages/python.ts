import type { Link, Rule, Spec } from "./spec.ts";

const first: Rule = { binds: "first" };
const all: Rule = { binds: "all" };
const comprehension: Rule = { scope: "block" };

const PATH = "[A-Za-z_][\\w]*(?:\\.[A-Za-z_]\\w*)*";

export const python: Spec = {
  leaves: { identifier: "name" },
  selves: ["self", "cls"],
  writes_fields: true,
  rules: {
    class_definition: { def: "class", scope: "class" },
    function_definition: { def: "function", scope: "function" },
    parameters: { params: true, binds: "all" },
    lambda: { scope: "function", isFunction: true },
    lambda_parameters: all,
    default_parameter: first,
    typed_parameter: first,
    typed_default_parameter: first,
    list_splat_pattern: first,
    dictionary_splat_pattern: first,
    assignment: { def: "variable", pattern: true },
    pattern_list: all,
    tuple_pattern: all,
    list_pattern: all,
    for_statement: { ...first, left: true },
    for_in_clause: { ...first, left: true },
    list_comprehension: comprehension,
    set_comprehension: comprehension,
    dictionary_comprehension: comprehension,
    generator_expression: comprehension,
    as_pattern_target: all,
    named_expression: first,
    keyword_argument: { skips: "first" },
    argument_list: { inherits: "class_definition" },
    decorator: {},
    type: { types: "all" },
    global_statement: { skips: "all" },
    nonlocal_statement: { skips: "all" },
    import_statement: { imports: /^/ },
    import_from_statement: { imports: /^/ },
    future_import_statement: { imports: /^/ },
  },
  after: new RegExp(
    `\\s*(?::\\s*["']?(?:Optional\\[)?(?<type>${PATH})|=\\s*(?:await\\s+)?(?:(?<called>${PATH})\\(|(?<same>${PATH})\\s*(?:\\n|$)))`,
    "y",
  ),
  gives: new RegExp(`\\s*->\\s*["']?(?:Optional\\[)?(${PATH})`, "y"),
  imports,
};

function imports(text: string): Link[] {
  const from = /^from\s+(\.*\s*[\w.]*)\s+import\s+/.exec(text);
  if (!from) return plain(text);
  const module = from[1]!.replace(/\s/g, "");
  const links: Link[] = [];
  if (/^\s*\(?\s*\*/.test(text.slice(from[0].length))) return [{ module, name: "**", exported: "*", at: -1 }];
  for (const found of text.slice(from[0].length).matchAll(/([A-Za-z_]\w*)(?:\s+as\s+([A-Za-z_]\w*))?/g)) {
    const [, name = "", alias] = found;
    // What a module imports, others may import from it.
    links.push({ module, name, local: alias ?? name, exported: alias ?? name, at: from[0].length + found.index });
  }
  return links;
}

/** `import a.b.c` binds `a`; `import a.b as c` binds the module itself. */
function plain(text: string): Link[] {
  const links: Link[] = [];
  for (const [, path = "", alias] of text
    .replace(/^import\s+/, "")
    .matchAll(/([A-Za-z_][\w.]*)(?:\s+as\s+([A-Za-z_]\w*))?/g)) {
    const top = path.split(".")[0]!;
    links.push(
      alias === undefined
        ? { module: top, name: "*", local: top, at: -1 }
        : { module: path, name: "*", local: alias, at: -1 },
    );
  }
  return links;
}
