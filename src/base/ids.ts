import { randomBytes } from "node:crypto";

/** Eight hex digits: enough to find a call in the log, cheap for a model to carry. */
export function correlationId(): string {
  return randomBytes(4).toString("hex");
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** `prefix_` and 130 random bits in lower-case base 32: not to be guessed. */
export function unguessableId(prefix: string): string {
  let id = `${prefix}_`;
  for (const byte of randomBytes(26)) id += ALPHABET[byte & 31];
  return id;
}
