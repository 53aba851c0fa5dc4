import type { Rule, Spec } from "./spec.ts";

const first: Rule = { binds: "first" };
const all: Rule = { binds: "all" };

export const ruby: Spec = {
  leaves: { identifier: "name", constant: "name", instance_variable: "name", self: "self" },
  open: true,
  implicit_self: true,
  bare_calls: true,
  writes_fields: true,
  rules: {
    class: { def: "class", scope: "class", named: "constant" },
    module: { def: "module", scope: "class", named: "constant" },
    method: { def: "method", scope: "function", named: "identifier constant" },
    singleton_method: { def: "method", scope: "function", named: "identifier constant" },
    superclass: { inherits: true },
    method_parameters: all,
    optional_parameter: first,
    splat_parameter: first,
    hash_splat_parameter: first,
    keyword_parameter: first,
    block_parameter: first,
    block_parameters: all,
    destructured_parameter: all,
    left_assignment_list: all,
    block: { scope: "block" },
    do_block: { scope: "block" },
    lambda: { scope: "function", isFunction: true },
    assignment: { def: "variable", pattern: true, named: "identifier constant" },
    argument_list: {},
    exception_variable: first,
    call: { imports: /^require(_relative)?[\s(]+['"]/ },
  },
  derives: /\b(include|extend|prepend)[\s(]+(?:[\w:]+\s*,\s*)*(?:\w+::)*$/,
  after: /\s*=\s*(?:(?<made>[A-Z]\w*(?:::\w+)*)\.new\b|(?<called>[A-Za-z_]\w*(?:\.\w+)*)\()/y,
  imports(text) {
    const found = /^require(_relative)?[\s(]+['"]([^'"]+)['"]/.exec(text);
    if (!found) return [];
    const module = found[1] === undefined ? found[2]! : `./${found[2]}`;
    return [{ module, name: "**", exported: "*", at: -1 }];
  },
};
