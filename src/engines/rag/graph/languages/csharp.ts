import type { Link, Rule, Spec } from "./spec.ts";

const block: Rule = { scope: "block" };

export const csharp: Spec = {
  leaves: { identifier: "name", implicit_parameter: "binding", this: "self", base: "self" },
  open: true,
  implicit_self: true,
  rules: {
    class_declaration: { def: "class", scope: "class" },
    interface_declaration: { def: "interface", scope: "class" },
    struct_declaration: { def: "class", scope: "class" },
    record_declaration: { def: "class", scope: "class" },
    enum_declaration: { def: "enum", scope: "class" },
    enum_member_declaration: { def: "field" },
    delegate_declaration: { def: "type", at: "call", types: "all" },
    method_declaration: { def: "method", scope: "function", at: "call", types: "all" },
    local_function_statement: { def: "function", scope: "function", at: "call", types: "all" },
    constructor_declaration: { def: "method", scope: "function" },
    property_declaration: { def: "field", at: "last", left: true, types: "all" },
    variable_declaration: { types: "all" },
    variable_declarator: { def: "variable", pattern: true },
    parameter: { binds: "last", left: true, types: "not last" },
    catch_declaration: { binds: "last", types: "not last" },
    foreach_statement: { ...block, binds: "last", left: true },
    lambda_expression: { scope: "function", isFunction: true, binds: "arrow" },
    parameter_list: {},
    type_parameter: { binds: "first" },
    type_argument_list: { types: "all" },
    base_list: { inherits: true },
    type_parameter_constraints_clause: { types: "all" },
    block,
    for_statement: block,
    accessor_list: {},
    arrow_expression_clause: {},
    attribute_list: {},
    argument_list: {},
    constructor_initializer: {},
    namespace_declaration: { scope: "module", skips: "all" },
    file_scoped_namespace_declaration: { skips: "all" },
    declaration_list: {},
    using_directive: { imports: /^/ },
  },
  before: /([A-Za-z_][\w.]*)(?:<[^;(){}]*>)?\??(?:\[\])*\s+$/,
  after: /\s*=\s*(?:new\s+(?<made>[A-Za-z_][\w.]*)|(?<called>[A-Za-z_]\w*(?:\.\w+)*)\()/y,
  package: /^\s*namespace\s+([\w.]+)/m,
  imports,
};

function imports(text: string): Link[] {
  const [, isStatic, alias, path = ""] =
    /^(?:global\s+)?using\s+(static\s+)?(?:(\w+)\s*=\s*)?([\w.]+)/.exec(text) ?? [];
  const cut = path.lastIndexOf(".");
  if (alias !== undefined && cut > 0)
    return [
      { module: path.slice(0, cut), name: path.slice(cut + 1), local: alias, at: text.lastIndexOf(path) + cut + 1 },
    ];
  return path === "" || isStatic !== undefined ? [] : [{ module: path, name: "**", at: -1 }];
}
