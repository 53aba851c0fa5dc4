import { join, relative } from "node:path";
import ts from "typescript";

/** What the TypeScript language service says that a name means. */
export interface OracleUse {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly name: string;
  readonly kind: "call" | "import" | "type" | "inherit" | "write" | "read";
  /** `path:line` of every declaration in the tree that the graph would have: no locals, no keys of literals. */
  readonly targets: ReadonlySet<string>;
  /** Whether it knows at all: of a member of `any`, or of what a missing package gives, it does not. */
  readonly isKnown: boolean;
}

/** Every use, in these files, of something that is defined in them; and every name that means something else. */
export function* oracleUses(root: string, paths: readonly string[]): Generator<OracleUse> {
  const known = new Set(paths);
  const checker = program(root, paths).getTypeChecker();
  for (const source of service.getProgram()!.getSourceFiles()) {
    const path = relative(root, source.fileName);
    if (!known.has(path)) continue;
    const found: OracleUse[] = [];
    const visit = (node: ts.Node): void => {
      if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && !isDeclared(node)) {
        const targets = new Set<string>();
        const declarations = declarationsOf(checker, node);
        for (const one of declarations) {
          const file = one.getSourceFile();
          const at = relative(root, file.fileName);
          if (known.has(at) && isWorthy(one)) targets.add(`${at}:${lineOf(file, ts.getNameOfDeclaration(one) ?? one)}`);
        }
        const { line, character } = source.getLineAndCharacterOfPosition(node.getStart());
        const name = node.text.replace(/^#/, "");
        found.push({
          path,
          line: line + 1,
          column: character,
          name,
          kind: kindOf(node),
          targets,
          isKnown: declarations.length > 0,
        });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    yield* found;
  }
}

let service: ts.LanguageService;

function program(root: string, paths: readonly string[]): ts.Program {
  const config = ts.findConfigFile(root, ts.sys.fileExists);
  const read = config
    ? ts.parseJsonConfigFileContent(ts.readConfigFile(config, ts.sys.readFile).config, ts.sys, root)
    : undefined;
  const files = paths.map((path) => join(root, path));
  service = ts.createLanguageService({
    getScriptFileNames: () => files,
    getScriptVersion: () => "1",
    getScriptSnapshot: (file) => {
      const text = ts.sys.readFile(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => ({
      ...read?.options,
      allowJs: true,
      noEmit: true,
      skipLibCheck: true,
      jsx: read?.options.jsx ?? ts.JsxEmit.Preserve,
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      allowImportingTsExtensions: true,
    }),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  });
  return service.getProgram()!;
}

function declarationsOf(
  checker: ts.TypeChecker,
  node: ts.Identifier | ts.PrivateIdentifier,
): readonly ts.Declaration[] {
  let symbol = ts.isShorthandPropertyAssignment(node.parent)
    ? checker.getShorthandAssignmentValueSymbol(node.parent)
    : checker.getSymbolAtLocation(node);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  return symbol?.declarations ?? [];
}

function lineOf(file: ts.SourceFile, node: ts.Node): number {
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
}

/** Whether the node is the name of what it declares. */
function isDeclared(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent))
    return parent.propertyName !== undefined && parent.name === node;
  if (ts.isImportClause(parent)) return false;
  if (ts.isNamespaceImport(parent) || ts.isNamespaceExport(parent) || ts.isShorthandPropertyAssignment(parent))
    return !ts.isShorthandPropertyAssignment(parent);
  if (ts.isBindingElement(parent)) return parent.initializer !== node;
  if (ts.isPropertyAccessExpression(parent) || ts.isExportAssignment(parent)) return false;
  return (parent as { name?: ts.Node }).name === node || ts.isMetaProperty(parent) || ts.isLabeledStatement(parent);
}

/** What the graph has definitions of: no parameters, no variables of a function's own, no keys of literals. */
function isWorthy(node: ts.Declaration): boolean {
  if (ts.isVariableDeclaration(node)) {
    const isFunction =
      node.initializer !== undefined &&
      (ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer));
    const { parent } = node.parent.parent;
    return isFunction || ts.isSourceFile(parent) || ts.isModuleBlock(parent);
  }
  if (ts.isBindingElement(node)) return ts.isObjectBindingPattern(node.parent) && isWorthy(node.parent.parent);
  if (ts.isParameter(node)) return ts.isParameterPropertyDeclaration(node, node.parent);
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isEnumDeclaration(node) ||
    ts.isEnumMember(node) ||
    (ts.isModuleDeclaration(node) && ts.isIdentifier(node.name)) ||
    ts.isMethodDeclaration(node) ||
    ts.isMethodSignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertySignature(node) ||
    ts.isAccessor(node)
  );
}

function kindOf(node: ts.Node): OracleUse["kind"] {
  let at = node;
  while (ts.isPropertyAccessExpression(at.parent) && at.parent.name === at) at = at.parent;
  while (ts.isQualifiedName(at.parent) && at.parent.right === at) at = at.parent;
  const { parent } = at;
  if (ts.isImportSpecifier(parent) || ts.isImportClause(parent) || ts.isExportSpecifier(parent)) return "import";
  if (ts.isExpressionWithTypeArguments(parent) && ts.isHeritageClause(parent.parent)) return "inherit";
  if (ts.isTypeReferenceNode(parent) || ts.isTypePredicateNode(parent) || ts.isTypeQueryNode(parent)) return "type";
  if ((ts.isCallExpression(parent) || ts.isNewExpression(parent)) && parent.expression === at) return "call";
  if (ts.isTaggedTemplateExpression(parent) || ts.isDecorator(parent)) return "call";
  if (ts.isBinaryExpression(parent) && parent.left === at && isAssignment(parent.operatorToken.kind)) return "write";
  if (ts.isPostfixUnaryExpression(parent)) return "write";
  return "read";
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}
