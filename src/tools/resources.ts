import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { Fault } from "../base/fault.ts";

export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
}

export interface Resources {
  readonly list: readonly Resource[];
  readonly warnings: readonly string[];
  read(uri: string): Promise<{ readonly uri: string; readonly mimeType: string; readonly text: string }>;
}

/** Documents of the operator's choice, read when asked for and never sent before. */
export function createResources(sidecars: readonly string[]): Resources {
  const files = new Map(sidecars.map((path) => [`llmc://docs/${basename(path)}`, path]));
  const mimeType = (path: string) => (path.endsWith(".md") ? "text/markdown" : "text/plain");
  return {
    list: [...files].map(([uri, path]) => ({ uri, name: basename(path), mimeType: mimeType(path) })),
    warnings: [...files.values()]
      .filter((path) => !existsSync(path))
      .map((path) => `mcp.resources.sidecars names ${path}, which does not exist.`),
    async read(uri) {
      const path = files.get(uri);
      if (path === undefined)
        throw new Fault("file_not_found", `No such resource: ${uri.slice(0, 200)}`, {
          hint: "resources/list has them all.",
        });
      try {
        return { uri, mimeType: mimeType(path), text: readFileSync(path, "utf8") };
      } catch (cause) {
        throw new Fault("file_not_found", `The document behind ${uri} cannot be read.`, {
          cause,
          hint: "The operator lists it in mcp.resources.sidecars.",
        });
      }
    },
  };
}
