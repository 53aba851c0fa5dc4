/** Random bytes from the system. The module behind them is loaded by the first call that needs one, not by every start. */
function randomBytes(count: number): Uint8Array {
  return process.getBuiltinModule("node:crypto").randomBytes(count);
}

/**
 * Eight hex digits: enough to find a call in the log, cheap for a model to carry. A name, not a secret: made without the system's
 * randomness, which a first call would have to load.
 */
export function correlationId(): string {
  return Math.floor(Math.random() * 2 ** 32)
    .toString(16)
    .padStart(8, "0");
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** `prefix_` and 130 random bits in lower-case base 32: not to be guessed. */
export function unguessableId(prefix: string): string {
  let id = `${prefix}_`;
  for (const byte of randomBytes(26)) id += ALPHABET[byte & 31];
  return id;
}

/** Names a conversation in telemetry: when it began and which process has it. */
export function sessionId(): string {
  return `sess_${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}-${process.pid}`;
}
