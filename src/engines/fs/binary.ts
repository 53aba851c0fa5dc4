/** What a file that is not text seems to be. */
export interface BinaryKind {
  readonly type: string;
}

const SNIFF_BYTES = 8 * 1024;

const MAGIC: readonly (readonly [string, string])[] = [
  ["89504e470d0a1a0a", "image/png"],
  ["ffd8ff", "image/jpeg"],
  ["47494638", "image/gif"],
  ["52494646", "RIFF (webp, wav, avi)"],
  ["25504446", "application/pdf"],
  ["504b0304", "application/zip"],
  ["1f8b", "application/gzip"],
  ["28b52ffd", "application/zstd"],
  ["fd377a585a00", "application/x-xz"],
  ["425a68", "application/x-bzip2"],
  ["7f454c46", "ELF program or library"],
  ["53514c69746520666f726d6174203300", "SQLite database"],
  ["0061736d", "application/wasm"],
  ["fffe", "UTF-16 text, little endian"],
  ["feff", "UTF-16 text, big endian"],
];

/** A NUL near the beginning means binary, as git and grep judge. */
export function binaryKind(start: Buffer): BinaryKind | undefined {
  const head = start.subarray(0, SNIFF_BYTES);
  if (!head.includes(0)) return undefined;
  const hex = head.toString("hex", 0, 16);
  return { type: MAGIC.find(([magic]) => hex.startsWith(magic))?.[1] ?? "application/octet-stream" };
}
