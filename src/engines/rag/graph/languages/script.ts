import type { Link, Rule, Spec } from "./spec.ts";

const fn: Rule = { def: "function", scope: "function" };
const inner: Rule = { scope: "function" };
const value: Rule = { scope: "function", isFunction: true };
const block: Rule = { scope: "block" };

const MEMBER = "property_identifier private_property_identifier";
/** `constructor(private readonly store: Store)` */
const FIELD = /\b(public|private|protected|readonly|override)\s/;

const RULES: Record<string, Rule> = {
  function_declaration: fn,
  generator_function_declaration: fn,
  function_signature: fn,
  function_expression: value,
  generator_function: value,
  arrow_function: { ...value, binds: "arrow", named: "identifier" },
  class_declaration: { def: "class", scope: "class" },
  abstract_class_declaration: { def: "class", scope: "class" },
  class: { def: "class", scope: "class" },
  interface_declaration: { def: "interface", scope: "class" },
  type_alias_declaration: { def: "type", scope: "class" },
  enum_declaration: { def: "enum", scope: "class" },
  enum_body: { def: "field", each: true, named: MEMBER },
  enum_assignment: { def: "field", named: MEMBER },
  internal_module: { def: "module", scope: "module" },
  module: { def: "module", scope: "module" },
  method_definition: { def: "method", scope: "function", named: MEMBER },
  method_signature: { def: "method", scope: "function", named: MEMBER },
  abstract_method_signature: { def: "method", scope: "function", named: MEMBER },
  public_field_definition: { def: "field", named: MEMBER },
  field_definition: { def: "field", named: MEMBER },
  property_signature: { def: "field", named: MEMBER },
  variable_declarator: { def: "variable", pattern: true },
  formal_parameters: { params: true, binds: "all" },
  required_parameter: { binds: "first", named: "identifier", promotes: FIELD },
  optional_parameter: { binds: "first", named: "identifier", promotes: FIELD },
  rest_pattern: { binds: "first" },
  array_pattern: { binds: "all", named: "identifier" },
  pair_pattern: { binds: "all", named: "identifier" },
  assignment_pattern: { binds: "first" },
  object_assignment_pattern: { binds: "first" },
  catch_clause: { scope: "block", binds: "first" },
  for_statement: block,
  for_in_statement: { scope: "block", binds: "first" },
  statement_block: block,
  switch_body: block,
  type_parameter: { binds: "first" },
  infer_type: { binds: "first" },
  mapped_type_clause: { binds: "first" },
  index_signature: { binds: "first", named: "identifier" },
  function_type: inner,
  constructor_type: inner,
  call_signature: inner,
  construct_signature: inner,
  extends_clause: { inherits: true },
  implements_clause: { inherits: true },
  extends_type_clause: { inherits: true },
  class_heritage: { inherits: true },
  type_arguments: {},
  computed_property_name: {},
  decorator: {},
  arguments: {},
  object: {},
  import_statement: { imports: /^/ },
  export_statement: {
    imports: /^export\s*(type\s*)?[{*]|^export\s+default\s+[\w$]+\s*;?\s*$/,
    nameless: /^export\s+default\s+(?!abstract\b|(async\s+)?function\s*\*?\s*[\w$]|class\s+(?!extends\b)[\w$])/,
  },
};

export const script: Spec = {
  leaves: {
    identifier: "name",
    type_identifier: "type",
    property_identifier: "property",
    private_property_identifier: "property",
    shorthand_property_identifier: "name",
    shorthand_property_identifier_pattern: "binding",
    this: "self",
    super: "self",
  },
  rules: RULES,
  after:
    /\s*[?!]?\s*(?::\s*(?:readonly\s+)?(?<type>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)(?=\s*(?:[=;,)}\n<]|$))|=\s*(?:await\s+)?(?:new\s+(?<made>[A-Za-z_$][\w$.]*)|(?<called>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)\s*\(|(?<same>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)\s*(?:[;,]|\n\s*[^\s.?])))/y,
  gives: /\s*:\s*([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)(?=\s*(?:[=;{,)}\n<]|$))/y,
  requires: /(?:\{[^{}]*\})?\s*=\s*(?:await\s+)?(?:require|import)\(\s*['"]([^'"]+)['"]\s*\)\s*(?:[;\n]|$)/y,
  main: /^export\s+default\b/,
  tags: true,
  recover:
    /^(?:export\s+)?(?:declare\s+)?(?:default\s+)?(?:abstract\s+)?(?:async\s+)?(function|class|interface|type|enum|const|let|var)\s+([A-Za-z_$][\w$]*)/gm,
  imports,
};

/** Where fields need not be declared. */
export const javascript: Spec = { ...script, writes_fields: true };

const NAMED = /(?:\btype\s+)?([\w$]+)(?:\s+as\s+([\w$]+))?/g;

function imports(text: string): Link[] {
  const main = /^export\s+default\s+([\w$]+)/.exec(text)?.[1];
  if (main !== undefined) return [{ module: "", name: main, exported: "default", at: text.lastIndexOf(main) }];
  const required = /^import\s+(?:type\s+)?([\w$]+)\s*=\s*require\(\s*['"]([^'"]+)['"]/.exec(text);
  if (required) return [{ module: required[2]!, name: "*", local: required[1]!, at: -1 }];
  const module = /(?:\bfrom\s*|^import\s*)(['"])([^'"]+)\1/.exec(text)?.[2];
  const isExport = text.startsWith("export");
  if (module === undefined && !isExport) return [];
  const links: Link[] = [];
  const head = /^import\s+(?:type\s+(?!from\b|,))?([\w$]+)\s*(?:,|\bfrom\b)/.exec(text);
  if (head && module !== undefined)
    links.push({ module, name: "default", local: head[1]!, at: head[0].lastIndexOf(head[1]!) });
  const all = /^(?:import|export)\s*(?:type\s*)?(?:[\w$]+\s*,\s*)?\*\s*(?:as\s+([\w$]+))?/.exec(text);
  if (all && module !== undefined)
    links.push({ module, name: "*", at: -1, ...(isExport ? { exported: all[1] ?? "*" } : { local: all[1] }) });
  const open = all ? -1 : text.indexOf("{");
  if (open < 0) return links;
  for (const found of uncommented(text.slice(open + 1, text.indexOf("}", open))).matchAll(NAMED)) {
    const [whole, name = "", alias] = found;
    const at = open + 1 + found.index + (whole.startsWith("type ") ? whole.indexOf(name, 5) : 0);
    const called = alias ?? name;
    links.push({ module: module ?? "", name, at, ...(isExport ? { exported: called } : { local: called }) });
  }
  return links;
}

/** The same length, so that places stay. */
function uncommented(text: string): string {
  return text.replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "));
}
