import type { Link, Rule, Spec } from "./spec.ts";

const block: Rule = { scope: "block" };
const names = "identifier";

export const java: Spec = {
  leaves: { identifier: "name", type_identifier: "type", this: "self", super: "self" },
  open: true,
  implicit_self: true,
  rules: {
    class_declaration: { def: "class", scope: "class", named: names },
    interface_declaration: { def: "interface", scope: "class", named: names },
    enum_declaration: { def: "enum", scope: "class", named: names },
    record_declaration: { def: "class", scope: "class", named: names },
    annotation_type_declaration: { def: "interface", scope: "class", named: names },
    enum_constant: { def: "field", named: names },
    method_declaration: { def: "method", scope: "function", at: "call", named: names },
    constructor_declaration: { def: "method", scope: "function", named: names },
    variable_declarator: { def: "variable", pattern: true },
    formal_parameters: {},
    formal_parameter: { binds: "last", named: names },
    catch_formal_parameter: { binds: "last", named: names },
    resource: { binds: "first", named: names },
    inferred_parameters: { binds: "all" },
    lambda_expression: { scope: "function", isFunction: true, binds: "arrow", named: names },
    enhanced_for_statement: { ...block, binds: "first", named: names },
    type_parameter: { binds: "first", named: "type_identifier" },
    for_statement: block,
    block,
    constructor_body: block,
    superclass: { inherits: true },
    super_interfaces: { inherits: true },
    extends_interfaces: { inherits: true },
    type_arguments: {},
    annotation: {},
    marker_annotation: {},
    argument_list: {},
    package_declaration: { skips: "all" },
    import_declaration: { imports: /^/ },
  },
  before: /([A-Za-z_][\w.]*)(?:<[^;(){}]*>)?(?:\[\])*(?:\.\.\.)?\s+$/,
  after: /\s*=\s*(?:new\s+(?<made>[A-Za-z_][\w.]*)|(?<called>[A-Za-z_]\w*(?:\.\w+)*)\()/y,
  package: /^\s*package\s+([\w.]+)/m,
  imports,
};

function imports(text: string): Link[] {
  const [, path = ""] = /^import\s+(?:static\s+)?([\w.*]+)/.exec(text) ?? [];
  const cut = path.lastIndexOf(".");
  const [module, name] = [path.slice(0, cut), path.slice(cut + 1)];
  if (cut < 0) return [];
  return name === "*" ? [{ module, name: "**", at: -1 }] : [{ module, name, local: name, at: text.lastIndexOf(name) }];
}
