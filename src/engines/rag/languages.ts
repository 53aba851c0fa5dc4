/** A language: how its files are named, which grammar reads it, and which nodes of it define something. */
export interface Language {
  readonly name: string;
  readonly grammar?: string;
  /** Node types that define a named thing. */
  readonly defines?: ReadonlySet<string>;
  /** Node types that are passed through on the way to definitions. */
  readonly through?: ReadonlySet<string>;
}

interface Row {
  readonly name: string;
  readonly ext: string;
  readonly grammar?: string;
  readonly defines?: string;
  readonly through?: string;
}

const SCRIPT = {
  defines:
    "function_declaration generator_function_declaration class_declaration abstract_class_declaration method_definition field_definition public_field_definition interface_declaration type_alias_declaration enum_declaration lexical_declaration variable_declaration internal_module module function_signature abstract_method_signature",
  through: "export_statement ambient_declaration class_body statement_block expression_statement",
};

const ROWS: readonly Row[] = [
  { name: "typescript", ext: "ts mts cts", grammar: "typescript", ...SCRIPT },
  { name: "tsx", ext: "tsx", grammar: "tsx", ...SCRIPT },
  { name: "javascript", ext: "js mjs cjs jsx", grammar: "javascript", ...SCRIPT },
  {
    name: "python",
    ext: "py pyi pyw",
    grammar: "python",
    defines: "function_definition class_definition decorated_definition",
    through: "block if_statement try_statement else_clause with_statement",
  },
  {
    name: "go",
    ext: "go",
    grammar: "go",
    defines: "function_declaration method_declaration type_declaration const_declaration var_declaration",
    through: "block",
  },
  {
    name: "rust",
    ext: "rs",
    grammar: "rust",
    defines:
      "function_item function_signature_item struct_item enum_item union_item trait_item impl_item mod_item type_item const_item static_item macro_definition",
    through: "declaration_list block",
  },
  {
    name: "java",
    ext: "java",
    grammar: "java",
    defines:
      "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration method_declaration constructor_declaration field_declaration",
    through: "class_body interface_body enum_body enum_body_declarations block",
  },
  {
    name: "c",
    ext: "c h",
    grammar: "cpp",
    defines:
      "function_definition struct_specifier union_specifier enum_specifier type_definition declaration preproc_def preproc_function_def",
    through: "preproc_if preproc_ifdef preproc_else linkage_specification declaration_list",
  },
  {
    name: "cpp",
    ext: "cpp cc cxx hpp hh hxx ipp",
    grammar: "cpp",
    defines:
      "function_definition class_specifier struct_specifier union_specifier enum_specifier namespace_definition template_declaration type_definition alias_declaration declaration field_declaration preproc_def preproc_function_def",
    through: "preproc_if preproc_ifdef preproc_else linkage_specification declaration_list field_declaration_list",
  },
  {
    name: "csharp",
    ext: "cs",
    grammar: "c-sharp",
    defines:
      "namespace_declaration class_declaration interface_declaration struct_declaration record_declaration enum_declaration method_declaration constructor_declaration property_declaration delegate_declaration field_declaration",
    through: "declaration_list file_scoped_namespace_declaration block",
  },
  {
    name: "ruby",
    ext: "rb rake gemspec",
    grammar: "ruby",
    defines: "class module method singleton_method singleton_class",
    through: "body_statement",
  },
  {
    name: "php",
    ext: "php",
    grammar: "php",
    defines:
      "function_definition class_declaration interface_declaration trait_declaration enum_declaration method_declaration property_declaration const_declaration namespace_definition",
    through: "declaration_list compound_statement",
  },
  { name: "bash", ext: "sh bash zsh", grammar: "bash", defines: "function_definition", through: "compound_statement" },
  {
    name: "css",
    ext: "css scss less",
    grammar: "css",
    defines: "rule_set media_statement keyframes_statement",
    through: "block",
  },
  { name: "markdown", ext: "md mdx markdown" },
  { name: "restructuredtext", ext: "rst" },
  { name: "text", ext: "txt adoc org tex" },
  { name: "json", ext: "json jsonc json5 jsonl" },
  { name: "yaml", ext: "yml yaml" },
  { name: "toml", ext: "toml ini cfg conf properties" },
  { name: "html", ext: "html htm vue svelte astro xml" },
  { name: "sql", ext: "sql" },
  { name: "proto", ext: "proto graphql gql thrift" },
  { name: "kotlin", ext: "kt kts" },
  { name: "swift", ext: "swift" },
  { name: "scala", ext: "scala sc" },
  { name: "elixir", ext: "ex exs" },
  { name: "lua", ext: "lua" },
  { name: "zig", ext: "zig" },
];

const words = (text: string | undefined) => (text === undefined ? undefined : new Set(text.split(" ")));

const BY_EXTENSION: ReadonlyMap<string, Language> = new Map(
  ROWS.flatMap(({ name, ext, grammar, defines, through }) => {
    const language = { name, grammar, defines: words(defines), through: words(through) } as Language;
    return ext.split(" ").map((one) => [one, language] as const);
  }),
);

const OTHER: Language = { name: "other" };

export function languageOf(path: string): Language {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return BY_EXTENSION.get(name.slice(dot + 1).toLowerCase()) ?? OTHER;
}

/** By a file's name, or by the language's own. */
export function languageNamed(hint: string): Language {
  if (hint.includes(".")) return languageOf(hint);
  const named = [...BY_EXTENSION.values()].find(({ name }) => name === hint.toLowerCase());
  return named ?? languageOf(`x.${hint}`);
}

/** Every grammar that some language is read with. */
export const GRAMMARS: readonly string[] = [
  ...new Set(ROWS.flatMap(({ grammar }) => (grammar === undefined ? [] : [grammar]))),
];
