/**
 * 64 bits that tell texts apart, without loading cryptography, which takes longer than a short command. Equal texts have equal
 * hashes and a hash does not give its text back; it is no proof against someone who makes texts to collide.
 */
export function quickHash(text: string): string {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (const byte of Buffer.from(text)) {
    low = Math.imul(low ^ byte, 2654435761);
    high = Math.imul(high ^ byte, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}
