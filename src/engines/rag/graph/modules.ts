import type { FileInfo } from "./definition.ts";
import { goPackage, packageMembers, pythonModule, rustModule, sourceInclude } from "./modules-others.ts";
import { scriptModule } from "./modules-script.ts";
import type { View } from "./view.ts";

/** A module: the files that make it up, and what it is called by the file that asked. */
export interface Module {
  readonly files: readonly FileInfo[];
  readonly from: FileInfo;
  readonly name: string;
}

type Finder = (view: View, from: FileInfo, name: string) => readonly FileInfo[];

const FINDERS: Readonly<Record<string, Finder>> = {
  script: scriptModule,
  python: pythonModule,
  go: goPackage,
  rust: rustModule,
  c: sourceInclude,
  ruby: sourceInclude,
  java: packageMembers,
  csharp: packageMembers,
  php: packageMembers,
};

/** The files of this tree that a module's name means to a file; none when it comes from elsewhere. */
export function moduleOf(view: View, from: FileInfo, name: string): Module | undefined {
  return view.once(`module ${from.id} ${name}`, () => {
    const files = FINDERS[from.family]?.(view, from, name) ?? [];
    return files.length > 0 ? { files, from, name } : undefined;
  });
}

/** A module inside another, where a language reaches it like a member. */
export function submoduleOf(view: View, { from, name }: Module, member: string): Module | undefined {
  if (from.family === "python") return moduleOf(view, from, name.endsWith(".") ? name + member : `${name}.${member}`);
  if (from.family === "rust") return moduleOf(view, from, `${name}::${member}`);
  if (from.family === "java" || from.family === "csharp") return moduleOf(view, from, `${name}.${member}`);
  return undefined;
}
