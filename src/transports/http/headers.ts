/** What a request says of itself, by name. The web's Headers are one of these. */
export interface HeaderList {
  get(name: string): string | null;
}

/** Node's own list of names and values, without making the web's. Undefined when a name stands in it twice. */
export function singleHeaders(raw: readonly string[]): HeaderList | undefined {
  const values = new Map<string, string>();
  for (let at = 0; at + 1 < raw.length; at += 2) values.set(raw[at]!.toLowerCase(), raw[at + 1]!);
  return values.size * 2 === raw.length ? { get: (name) => values.get(name.toLowerCase()) ?? null } : undefined;
}

export const ID_HEADER = "x-correlation-id";
