import { readFileSync } from "node:fs";
import type { Plugin } from "esbuild";
import ts from "typescript";

/**
 * `using` for a Node that does not know it. esbuild keeps the error of a block in a `var`, so in a loop a turn that ends well
 * throws the error of the turn before it; TypeScript keeps it in the block. What it calls is in using-helpers.ts.
 */
export const lowerUsing: Plugin = {
  name: "using",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      if (!/^\s*(await\s+)?using\s/m.test(source)) return undefined;
      const { outputText } = ts.transpileModule(source, {
        fileName: path,
        compilerOptions: {
          target: ts.ScriptTarget.ES2024,
          module: ts.ModuleKind.ESNext,
          verbatimModuleSyntax: true,
          noEmitHelpers: true,
        },
      });
      return { contents: outputText, loader: "js" };
    });
  },
};
