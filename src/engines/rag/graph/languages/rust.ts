import type { Link, Rule, Spec } from "./spec.ts";

const block: Rule = { scope: "block" };
const names = "identifier";
const fn: Rule = { def: "function", scope: "function", named: names };
/** What is wrapped is what matters: `Option<&mut Foo>`. */
const WRAP = "(?:&(?:'\\w+\\s+)?(?:mut\\s+)?)?(?:dyn\\s+|impl\\s+)?(?:(?:Box|Arc|Rc|Option|Result)<(?:dyn\\s+)?&?)?";
const PATH = "[A-Za-z_]\\w*(?:::[A-Za-z_]\\w*)*";

export const rust: Spec = {
  leaves: {
    identifier: "name",
    type_identifier: "type",
    field_identifier: "property",
    self: "self",
    crate: "other",
    super: "other",
  },
  selves: ["Self"],
  roots: ["crate", "super"],
  open: true,
  rules: {
    function_item: fn,
    function_signature_item: fn,
    struct_item: { def: "class", scope: "class", named: "type_identifier" },
    union_item: { def: "class", scope: "class", named: "type_identifier" },
    enum_item: { def: "enum", scope: "class", named: "type_identifier" },
    enum_variant: { def: "field", named: names },
    trait_item: { def: "interface", scope: "class", named: "type_identifier" },
    impl_item: { scope: "class", derives: /^(<[^{]*?>)?\s+for\s/ },
    type_item: { def: "type", named: "type_identifier" },
    const_item: { def: "variable", named: names },
    static_item: { def: "variable", named: names },
    macro_definition: { def: "macro", named: names },
    mod_item: { def: "module", scope: "module", named: names, imports: /^(pub(\([^)]*\))?\s+)?mod\s+\w+\s*;/ },
    declaration_list: {},
    field_declaration: { def: "field", named: "field_identifier" },
    let_declaration: { binds: "all", named: names, left: true, ordered: true },
    let_condition: { binds: "all", named: names, left: true },
    parameters: { params: true },
    parameter: { binds: "first", named: names },
    closure_parameters: { binds: "all", named: names },
    closure_expression: { scope: "function", isFunction: true },
    for_expression: { ...block, binds: "all", named: names, left: true },
    match_arm: block,
    match_pattern: { binds: "all", named: names },
    if_expression: block,
    while_expression: block,
    block,
    type_parameter: { binds: "first", named: "type_identifier" },
    constrained_type_parameter: { binds: "first", named: "type_identifier" },
    trait_bounds: { inherits: "trait_item" },
    type_arguments: {},
    arguments: {},
    field_initializer: { keys: true },
    attribute_item: {},
    use_declaration: { imports: /^/ },
  },
  after: new RegExp(
    `\\s*(?::\\s*${WRAP}(?<type>${PATH})|=\\s*(?:&(?:mut\\s+)?)?(?:(?<called>${PATH})\\(|(?<made>[A-Z]\\w*)\\s*\\{))`,
    "y",
  ),
  gives: new RegExp(`\\s*->\\s*${WRAP}(${PATH})`, "y"),
  lends: {
    impl_item:
      /^(?:unsafe\s+)?impl\s*(?:<[^{]*?>\s*)?(?:(?<base>[\w:]+)(?:<[^{]*?>)?\s+for\s+)?(?:&(?:mut\s+)?)?(?:\w+::)*(?<child>[A-Za-z_]\w*)/,
  },
  imports,
};

function imports(text: string): Link[] {
  const isPublic = /^pub\b/.test(text);
  const held = /\bmod\s+(\w+)\s*;/.exec(text)?.[1];
  if (held !== undefined) return [{ module: `self::${held}`, name: "*", local: held, exported: held, at: -1 }];
  const use = /\buse\s+/.exec(text);
  return use ? tree(text, use.index + use[0].length, "", isPublic).links : [];
}

/** `a::{b, c as d, e::*}` is a tree: each leaf of it is an import. */
function tree(text: string, start: number, prefix: string, isPublic: boolean): { links: Link[]; end: number } {
  const links: Link[] = [];
  let at = start;
  let path = prefix;
  const token = /\s*(::|\{|\}|,|;|\*|as\s+(\w+)|[A-Za-z_]\w*)/y;
  let last: { name: string; at: number } | undefined;
  let alias: string | undefined;
  const flush = () => {
    if (last) links.push(linkOf(path, last.name, alias, last.at, isPublic));
    last = undefined;
    alias = undefined;
    path = prefix;
  };
  for (;;) {
    token.lastIndex = at;
    const found = token.exec(text);
    if (!found) break;
    at = token.lastIndex;
    const word = found[1]!;
    if (word === "::") {
      if (last) path = path === "" ? last.name : `${path}::${last.name}`;
      last = undefined;
    } else if (word === "{") {
      const inner = tree(text, at, path, isPublic);
      links.push(...inner.links);
      at = inner.end;
    } else if (word === "," || word === "}" || word === ";") {
      flush();
      if (word !== ",") break;
    } else if (word === "*") {
      links.push({ module: path, name: "**", at: -1, ...(isPublic ? { exported: "*" } : {}) });
      last = undefined;
    } else if (found[2] !== undefined) alias = found[2];
    else last = { name: word, at: at - word.length };
  }
  return { links, end: at };
}

function linkOf(module: string, name: string, alias: string | undefined, at: number, isPublic: boolean): Link {
  const isModule = name === "self";
  const called = alias ?? (isModule ? module.slice(module.lastIndexOf(":") + 1) : name);
  const exported = isPublic ? { exported: called } : {};
  if (isModule) return { module, name: "*", local: called, at: -1, ...exported };
  if (module === "") return { module: name, name: "*", local: called, at: -1, ...exported };
  return { module, name, local: called, at, ...exported };
}
