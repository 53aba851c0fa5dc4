import type { Link, Rule, Spec } from "./spec.ts";

const block: Rule = { scope: "block" };
const names = "identifier field_identifier";
const type = "type_identifier";

/** C and C++, which are read with one grammar. */
export const c: Spec = {
  leaves: {
    identifier: "name",
    type_identifier: "type",
    field_identifier: "property",
    namespace_identifier: "name",
    this: "self",
  },
  open: true,
  implicit_self: true,
  arrows: true,
  macros: true,
  rules: {
    function_definition: { def: "function", scope: "function", at: "call" },
    declaration: { def: "variable", each: true, named: names, listed: true, left: true },
    field_declaration: { def: "field", each: true, named: names, listed: true, left: true },
    init_declarator: { def: "variable" },
    class_specifier: { def: "class", scope: "class", named: type, body: true },
    struct_specifier: { def: "class", scope: "class", named: type, body: true },
    union_specifier: { def: "class", scope: "class", named: type, body: true },
    enum_specifier: { def: "enum", named: type, body: true },
    enumerator: { def: "field" },
    namespace_definition: { scope: "module", skips: "all" },
    declaration_list: {},
    type_definition: { def: "type", at: "last", named: type },
    alias_declaration: { def: "type", named: type },
    parameter_list: {},
    parameter_declaration: { binds: "first", named: "identifier" },
    optional_parameter_declaration: { binds: "first", named: "identifier" },
    type_parameter_declaration: { binds: "first", named: type },
    base_class_clause: { inherits: true },
    template_argument_list: { types: "all" },
    argument_list: {},
    compound_statement: block,
    for_statement: block,
    for_range_loop: { ...block, binds: "first", named: "identifier" },
    catch_clause: block,
    lambda_expression: { scope: "function", isFunction: true },
    field_initializer_list: {},
    preproc_def: { def: "macro" },
    preproc_function_def: { def: "macro", scope: "function" },
    preproc_params: { binds: "all" },
    preproc_include: { imports: /^/ },
  },
  before: /([A-Za-z_][\w:]*)(?:<[^;(){}]*>)?(?:\s*[*&]+\s*(?:const\s+)?|\s+)(?:(?:\w+::)+)?$/,
  after: /\s*=\s*(?:new\s+(?<made>[A-Za-z_][\w:]*)|(?<called>[A-Za-z_]\w*(?:(?:::|\.|->)\w+)*)\()/y,
  refine: (kind, after) => ((kind === "variable" || kind === "field") && /^\s*\(/.test(after) ? "function" : kind),
  owner: (text, start, name) =>
    /((?:[A-Za-z_]\w*(?:<[^<>]*>)?::)+)~?$/
      .exec(text.slice(start, name))?.[1]
      ?.replace(/<[^<>]*>/g, "")
      .split("::")
      .filter((part) => part !== "")
      .at(-1),
  imports(text): Link[] {
    const module = /["<]([^">]+)[">]/.exec(text)?.[1];
    return module === undefined ? [] : [{ module, name: "**", exported: "*", at: -1 }];
  },
};
