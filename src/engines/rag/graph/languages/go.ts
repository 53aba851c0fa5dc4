import type { Link, Rule, Spec } from "./spec.ts";

const block: Rule = { scope: "block" };
const names = "identifier";

export const go: Spec = {
  leaves: { identifier: "name", type_identifier: "type", field_identifier: "property", package_identifier: "name" },
  open: true,
  rules: {
    function_declaration: { def: "function", scope: "function" },
    method_declaration: { def: "method", scope: "function", named: "field_identifier" },
    type_spec: { def: "class", scope: "class" },
    type_alias: { def: "type" },
    field_declaration: { def: "field", each: true, named: "field_identifier", inherits: "embedded" },
    interface_type: {},
    type_elem: { inherits: "interface_type" },
    method_elem: { def: "method", scope: "function", named: "field_identifier" },
    parameter_list: { params: true },
    parameter_declaration: { binds: "all", named: names },
    variadic_parameter_declaration: { binds: "all", named: names },
    type_parameter_declaration: { binds: "all", named: names },
    var_spec: { def: "variable", each: true, named: names, left: true },
    const_spec: { def: "variable", each: true, named: names, left: true },
    short_var_declaration: { binds: "all", named: names, left: true, ordered: true },
    range_clause: { binds: "all", named: names, left: true },
    type_switch_statement: { ...block, binds: "first", named: names, left: true },
    func_literal: { scope: "function", isFunction: true },
    block,
    if_statement: block,
    for_statement: block,
    expression_switch_statement: block,
    keyed_element: { keys: true },
    argument_list: {},
    literal_value: {},
    package_clause: { skips: "all" },
    import_declaration: { imports: /^/ },
  },
  after:
    /\s*(?:,\s*\w+)*(?:\s*:?=\s*&?(?<made>(?:\w+\.)?[A-Za-z_]\w*)\{|\s*:?=\s*(?<called>[A-Za-z_]\w*(?:\.\w+)*)(?:\[[^\]\n]*\])?\(|\s+(?:\*|\[\]\*?)?(?<type>(?:\w+\.)?[A-Za-z_]\w*)(?=\s*(?:[,){=\n`[]|$)))/y,
  gives: /\s*\(?\s*\*?((?:\w+\.)?[A-Za-z_]\w*)(?:\[[^\]\n]*\])?\s*(?=[{,)])/y,
  refine: (kind, after) =>
    kind !== "class"
      ? kind
      : /^\s*(\[[^\]]*\])?\s*interface\b/.test(after)
        ? "interface"
        : /\bstruct\b/.test(after)
          ? "class"
          : "type",
  owner: (text, start, name) => /^func\s*\(\s*(?:\w+\s+)?\*?\s*([A-Za-z_]\w*)/.exec(text.slice(start, name))?.[1],
  package: /^package\s+(\w+)/m,
  imports,
};

function imports(text: string): Link[] {
  const links: Link[] = [];
  for (const [, alias, module = ""] of text.matchAll(/(?:([\w.]+)\s+)?"([^"\n]+)"/g)) {
    if (alias === "_") continue;
    // The last part that is no version: what the package is usually called.
    const parts = module.split("/").filter((part) => !/^v\d+$/.test(part));
    const local = alias !== undefined && alias !== "import" ? alias : parts.at(-1)!.replace(/^go-|[.-]go$/g, "");
    links.push(alias === "." ? { module, name: "**", at: -1 } : { module, name: "*", local, at: -1 });
  }
  return links;
}
