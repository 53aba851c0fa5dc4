import { c } from "./c.ts";
import { csharp } from "./csharp.ts";
import { go } from "./go.ts";
import { java } from "./java.ts";
import { php } from "./php.ts";
import { python } from "./python.ts";
import { ruby } from "./ruby.ts";
import { rust } from "./rust.ts";
import { javascript, script } from "./script.ts";
import type { Spec } from "./spec.ts";

/** How the graph reads each language, by the name that the index has for it. */
const SPECS: Readonly<Record<string, Spec>> = {
  typescript: script,
  tsx: script,
  javascript,
  python,
  go,
  rust,
  java,
  c,
  cpp: c,
  csharp,
  ruby,
  php,
};

export function specOf(language: string): Spec | undefined {
  return Object.hasOwn(SPECS, language) ? SPECS[language] : undefined;
}
