declare const minted: unique symbol;

/** Who calls: `local:<uid>` (stdio, CLI, te) or `token:<name>` (HTTP). Sessions, handles, jobs and processes belong to one. */
export type Principal = string & { readonly [minted]: "Principal" };

/** The one maker of principals. Transports call it after they know who is there. */
export function mintPrincipal(kind: "local" | "token", name: string | number): Principal {
  return `${kind}:${name}` as Principal;
}
