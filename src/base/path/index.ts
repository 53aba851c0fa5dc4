/** The path guard: paths are minted by their letters, then pinned, and judged by what the kernel says was pinned. */
export { type Access, BUILT_IN_DENIED_PATHS, compileDenied } from "./denied.ts";
export { type Pinned, type Place, pin, pinDir, pinFile, place, reopen, translated } from "./open.ts";
export { createRoots, inside, type Roots, type RootsOptions, type SafePath } from "./roots.ts";
