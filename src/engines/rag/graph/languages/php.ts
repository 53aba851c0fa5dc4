import type { Link, Rule, Spec } from "./spec.ts";

const variable = "variable_name";
const type: Rule = { def: "class", scope: "class", named: "name" };

export const php: Spec = {
  leaves: { name: "name", variable_name: "name", relative_scope: "self" },
  selves: ["$this"],
  open: true,
  arrows: true,
  rules: {
    class_declaration: type,
    interface_declaration: { ...type, def: "interface" },
    trait_declaration: type,
    enum_declaration: { ...type, def: "enum" },
    enum_case: { def: "field", named: "name" },
    method_declaration: { def: "method", scope: "function", named: "name" },
    function_definition: { def: "function", scope: "function", named: "name" },
    anonymous_function: { scope: "function", isFunction: true },
    arrow_function: { scope: "function", isFunction: true },
    property_element: { def: "field", named: variable },
    const_element: { def: "variable", named: "name" },
    formal_parameters: { params: true },
    simple_parameter: { binds: "last", named: variable, left: true },
    variadic_parameter: { binds: "last", named: variable },
    property_promotion_parameter: { binds: "last", named: variable, left: true, promotes: /^/ },
    assignment_expression: { binds: "first", named: variable, left: true },
    base_clause: { inherits: true },
    class_interface_clause: { inherits: true },
    use_declaration: { inherits: true },
    named_type: { types: "all" },
    namespace_name: { skips: "all" },
    namespace_definition: { skips: "all" },
    arguments: {},
    compound_statement: {},
    declaration_list: {},
    attribute_list: {},
    namespace_use_declaration: { imports: /^/ },
  },
  before: /\??([A-Za-z_\\][\w\\]*)\s+(?:&|\.\.\.)?$/,
  after: /\s*=\s*(?:new\s+(?<made>[A-Za-z_\\][\w\\]*)|(?<called>\$?[A-Za-z_][\w]*(?:(?:->|::)\w+)*)\()/y,
  gives: /\s*:\s*\??([A-Za-z_\\][\w\\]*)/y,
  package: /^\s*namespace\s+([\w\\]+)/m,
  imports,
};

function imports(text: string): Link[] {
  const body = text.replace(/^use\s+(function\s+|const\s+)?/, "");
  const group = /^([\w\\]+)\\\{([^}]*)\}/.exec(body);
  const names = group ? group[2]! : body;
  const links: Link[] = [];
  for (const [, path = "", alias] of names.matchAll(/([\w\\]+)(?:\s+as\s+(\w+))?\s*(?:[,;]|$)/g)) {
    const whole = (group ? `${group[1]}\\${path}` : path).replace(/^\\/, "");
    const cut = whole.lastIndexOf("\\");
    const name = whole.slice(cut + 1);
    const at = text.indexOf(path) + path.length - name.length;
    if (cut > 0) links.push({ module: whole.slice(0, cut), name, local: alias ?? name, at });
  }
  return links;
}
