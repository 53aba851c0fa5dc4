import { CLOSED, type DefRow, type FileInfo, isOne, isTop, lastOf } from "./definition.ts";
import { specOf } from "./languages/index.ts";
import { type Module, moduleOf, submoduleOf } from "./modules.ts";
import { createReach } from "./reach.ts";
import type { DefKind, Ref } from "./types.ts";
import { remember, type View } from "./view.ts";

/** What a reference means: definitions of this tree, or a module of it. Something of another tree is `foreign`. */
export interface Meaning {
  readonly defs: readonly DefRow[];
  readonly module?: Module | undefined;
  readonly foreign?: boolean;
  /** How sure it is, 0 to 1. */
  readonly confidence: number;
}

/** How sure each way of finding a definition is. */
export const SURE = { scope: 1, import: 0.95, self: 0.95, type: 0.9, package: 0.85, unique: 0.7, member: 0.6 } as const;
/** From here on an edge is resolved; below, it is one of several that it could be. */
export const RESOLVED = 0.5;

const MAX_DEPTH = 8;
const RE_EXPORTS = 5;
const NOTHING: Meaning = { defs: [], confidence: 0 };
const FOREIGN: Meaning = { defs: [], foreign: true, confidence: 0 };
const CLASSES: ReadonlySet<DefKind> = new Set(["class", "interface", "type", "enum", "module"]);

/** Follows references through the files of a view. */
export interface Resolver {
  meaning(file: FileInfo, ref: Ref): Meaning;
  /** The class that a file means by a symbol. */
  classes(file: FileInfo, symbol: string): readonly DefRow[];
  /** What a file gives others under a name. */
  given(file: FileInfo, name: string): readonly DefRow[];
  /** Members of this name that a definition has, its own before what it inherits. */
  members(of: DefRow, name: string): readonly DefRow[];
}

export function createResolver(view: View): Resolver {
  /** Members that are being looked for, and how often one of them was met again. */
  const busy = new Set<string>();
  let circles = 0;
  const found = new Map<string, readonly DefRow[]>();
  const derived = new Map<string, readonly (readonly DefRow[])[]>();
  const reachOf = createReach(view, RE_EXPORTS);

  function meaning(file: FileInfo, ref: Ref, depth = 0): Meaning {
    if (depth > MAX_DEPTH) return NOTHING;
    switch (ref[0]) {
      case "def":
        return view.once(`meant ${file.id} ${ref[1]}`, () => {
          const def = view.defAt(file, ref[1]);
          return def ? { defs: sameSymbol(def), confidence: SURE.scope } : NOTHING;
        });
      case "import": {
        const { module, name } = view.links(file).imports[ref[1]]!;
        return imported(file, module, name, depth);
      }
      case "module": {
        const { module } = view.links(file).imports[ref[1]]!;
        const found = moduleOf(view, file, module);
        return found ? { defs: [], module: found, confidence: SURE.import } : FOREIGN;
      }
      case "self":
        return { defs: classesNamed(file, ref[1]), confidence: SURE.self };
      case "free":
        return free(file, ref[1], depth);
      case "member":
        return member(file, ref, depth);
      case "call":
        return typeOf(file, ref, depth);
    }
  }

  /** Overloads, and parts of one class: the same symbol of the same file. */
  function sameSymbol(def: DefRow): DefRow[] {
    return view.namedIn(def.name, [def.file]).filter((one) => one.symbol === def.symbol);
  }

  function imported(file: FileInfo, module: string, name: string, depth: number): Meaning {
    const found = moduleOf(view, file, module);
    if (found) {
      const { defs, module: inner } = exported(found, name, RE_EXPORTS);
      return defs.length > 0 || inner ? { defs, module: inner, confidence: SURE.import } : NOTHING;
    }
    // `import static a.B.c`: the module is a class.
    const cut = module.search(/(\.|\\|::)[^.\\:]*$/);
    if (cut <= 0 || depth >= MAX_DEPTH || !/java|csharp|php|rust/.test(file.family)) return FOREIGN;
    const outer = imported(file, module.slice(0, cut), module.slice(cut).replace(/^(\.|\\|::)/, ""), depth + 1);
    const defs = outer.defs.flatMap((one) => members(one, name));
    return defs.length > 0 ? { defs, confidence: SURE.import } : outer.foreign ? FOREIGN : NOTHING;
  }

  /** What a module gives under a name, through what it gives on. */
  function exported(
    module: Module,
    name: string,
    depth: number,
    seen = new Set<string>(),
  ): Pick<Meaning, "defs" | "module"> {
    const own = topLevel(module.files, name);
    if (own.length > 0) return { defs: own };
    // Modules that give on each other, or the same third one, are looked at once.
    const key = `${module.files[0]!.id} ${name}`;
    if (seen.has(key)) return { defs: [] };
    seen.add(key);
    const stars: Module[] = [];
    for (const file of depth > 0 ? module.files : []) {
      const { imports, exports } = view.links(file);
      for (const one of exports) {
        if (one.name !== name && one.name !== "*") continue;
        const from = one.from === null ? undefined : moduleOf(view, file, imports[one.from]!.module);
        if (one.name === "*") {
          if (from) stars.push(from);
        } else if (one.from === null) {
          const defs = topLevel([file], one.source);
          if (defs.length > 0) return { defs };
        } else if (from)
          return one.source === "*" ? { defs: [], module: from } : exported(from, one.source, depth - 1, seen);
      }
    }
    const inner = submoduleOf(view, module, name);
    if (inner) return { defs: [], module: inner };
    for (const star of name === "default" ? [] : stars) {
      const found = exported(star, name, depth - 1, seen);
      if (found.defs.length > 0 || found.module) return found;
    }
    return { defs: [] };
  }

  function topLevel(files: readonly FileInfo[], name: string): DefRow[] {
    return view.namedIn(name, files).filter(isTop);
  }

  /** A name that its file does not bind. */
  function free(file: FileInfo, name: string, depth: number): Meaning {
    return depth > MAX_DEPTH ? NOTHING : view.once(`free ${file.id} ${name}`, () => unbound(file, name));
  }

  function unbound(file: FileInfo, name: string): Meaning {
    const brought = included(file, name);
    if (brought.length > 0) return { defs: brought, confidence: SURE.type };
    if (specOf(file.language)?.open !== true) return NOTHING;
    const { all, isOnly } = topNamed(name, file.family);
    const near = all.filter((one) => inSamePackage(one.file, file));
    if (near.length > 0) return { defs: near, confidence: SURE.package };
    return isOnly ? { defs: all, confidence: SURE.unique } : NOTHING;
  }

  function topNamed(name: string, family: string): { all: readonly DefRow[]; isOnly: boolean } {
    return view.once(`top ${family} ${name}`, () => {
      const all = view.named(name).filter((one) => one.file.family === family && isTop(one));
      return { all, isOnly: isOne(all) };
    });
  }

  /** What a file gets by importing all of another. */
  function included(file: FileInfo, name: string): readonly DefRow[] {
    const stars = view.links(file).imports.filter((one) => one.name === "**");
    if (stars.length === 0) return [];
    if (file.family === "c" || file.family === "ruby") {
      const { all } = topNamed(name, file.family);
      const reached = all.length === 0 ? undefined : reachOf(file);
      return all.filter((one) => reached!.has(one.file.id));
    }
    for (const { module } of stars) {
      const found = moduleOf(view, file, module);
      const { defs } = found ? exported(found, name, RE_EXPORTS) : NOTHING;
      if (defs.length > 0) return defs;
    }
    return [];
  }

  function inSamePackage(a: FileInfo, b: FileInfo): boolean {
    if (a.id === b.id) return true;
    if (a.family === "go" && a.folder !== b.folder) return false;
    const name = view.packageOf(a);
    return name !== "" && name === view.packageOf(b);
  }

  function member(
    file: FileInfo,
    [, of, name]: Extract<Ref, readonly ["member", Ref, string]>,
    depth: number,
  ): Meaning {
    const outer = typeOf(file, of, depth + 1);
    // A namespace is no definition: what stands in it is found by its own name.
    if (outer.foreign && file.family === "c" && of[0] === "free" && of[1] !== "std") return free(file, name, depth + 1);
    if (outer.module) {
      const { defs, module } = exported(outer.module, name, RE_EXPORTS);
      // A module of this tree that has no such name: nothing else of that name is meant.
      return defs.length > 0 || module ? { defs, module, confidence: SURE.import } : FOREIGN;
    }
    const defs = outer.defs.flatMap((one) => members(one, name));
    if (defs.length > 0) return { defs, confidence: Math.min(outer.confidence, SURE.type) };
    return outer.foreign || (outer.defs.length > 0 && outer.defs.every((one) => one.kind === "enum"))
      ? FOREIGN
      : NOTHING;
  }

  /** What has the members of a reference: the class of a variable, what a call gives. */
  function typeOf(file: FileInfo, ref: Ref, depth: number): Meaning {
    if (depth > MAX_DEPTH) return NOTHING;
    const isCall = ref[0] === "call";
    const found = meaning(file, isCall ? ref[1] : ref, depth + 1);
    if (found.module || found.foreign) return isCall && found.module ? NOTHING : found;
    if (found.defs.length === 0) {
      const isUnknown = ref[0] !== "free" || view.isNamed(ref[1]);
      return isUnknown ? NOTHING : FOREIGN;
    }
    const defs: DefRow[] = [];
    let confidence = found.confidence;
    let foreign = false;
    for (const def of found.defs) {
      if (CLASSES.has(def.kind)) defs.push(def);
      else if (def.type && isCall === (def.kind === "function" || def.kind === "method")) {
        const inner = typeOf(def.file, def.type, depth + 1);
        if (inner.module) return inner;
        defs.push(...inner.defs);
        foreign ||= inner.foreign === true;
        confidence = Math.min(confidence, inner.confidence);
      } else if (!def.type && !isCall) defs.push(def);
    }
    return defs.length === 0 && foreign ? FOREIGN : { defs: [...new Set(defs)], confidence };
  }

  function members(of: DefRow, name: string, depth = 0): readonly DefRow[] {
    const key = `members ${of.file.id} ${of.symbol} ${name}`;
    // A class that derives from itself, by whatever way.
    if (busy.has(key)) {
      circles++;
      return [];
    }
    const known = found.get(depth === 0 ? key : `${key} ${depth}`);
    if (known) return known;
    const before = circles;
    busy.add(key);
    try {
      const all = membersOf(of, name, depth);
      // What was cut short by a circle is right for who asked, and not for others.
      if (depth === 0 || circles === before) remember(found, depth === 0 ? key : `${key} ${depth}`, all);
      return all;
    } finally {
      busy.delete(key);
    }
  }

  function membersOf(of: DefRow, name: string, depth: number): readonly DefRow[] {
    const own = view.namedIn(name, [of.file]).filter((one) => one.owner === of.symbol);
    if (own.length > 0) return own;
    // Other parts of the class may lie in other files: Go's methods, Rust's impls, partial and reopened classes.
    const parts = !CLOSED.test(of.file.family) ? view.namedWithin(name, of.name).filter((one) => isPart(one, of)) : [];
    if (parts.length > 0) return parts;
    if (depth >= RE_EXPORTS) return [];
    for (const bases of basesOf(of)) {
      const theirs = bases.flatMap((one) => members(one, name, depth + 1));
      if (theirs.length > 0) return theirs;
    }
    return [];
  }

  /** What a class derives from, in the order it is written. */
  function basesOf(of: DefRow): readonly (readonly DefRow[])[] {
    const key = `${of.file.id} ${of.symbol}`;
    const known = derived.get(key);
    if (known) return known;
    const before = circles;
    const isOther = (one: DefRow) => one.file.id !== of.file.id || one.symbol !== of.symbol;
    const all = view.bases(of).map(({ file, base }) => meaning(file, base, 2).defs.filter(isOther));
    if (circles === before) remember(derived, key, all);
    return all;
  }

  function isPart({ owner, file: part }: DefRow, { file: whole }: DefRow): boolean {
    if (owner === "" || part.family !== whole.family) return false;
    return part.family === "c" || part.family === "rust" || part.family === "ruby" || inSamePackage(part, whole);
  }

  function classesNamed(file: FileInfo, symbol: string): readonly DefRow[] {
    return view.once(`class ${file.id} ${symbol}`, () => classesOf(file, symbol));
  }

  function classesOf(file: FileInfo, symbol: string): readonly DefRow[] {
    const name = lastOf(symbol);
    const all = view.named(name).filter((one) => one.file.family === file.family && CLASSES.has(one.kind));
    const own = all.filter((one) => one.file.id === file.id && one.symbol === symbol);
    if (own.length > 0) return own;
    const near = all.filter((one) => inSamePackage(one.file, file));
    return near.length > 0 ? near : isOne(all) ? all : [];
  }

  const given = (file: FileInfo, name: string) =>
    exported({ files: [file], from: file, name: "." }, name, RE_EXPORTS).defs;

  return { meaning, given, members, classes: classesNamed };
}
