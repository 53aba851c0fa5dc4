import { closeSync, fstatSync, readSync } from "node:fs";
import { Fault } from "../../base/fault.ts";
import { type Pinned, reopen } from "../../base/path/index.ts";

/** A text that stays where it is and is read a part at a time. */
export interface TextFile {
  /** Bytes. */
  readonly length: number;
  /** Read into what is given, if it is: parts by the thousand would pile up otherwise. */
  part(at: number, size: number, into?: Uint8Array): Uint8Array;
}

/** UTF-8, in memory or in a file. */
export type Text = Uint8Array | TextFile;

/** The text of a file: a long one is then nowhere but in the interpreter. It must not change while it is read. */
export function openText(file: Pinned): TextFile & Disposable {
  const fd = reopen(file);
  const first = fstatSync(fd);
  return {
    length: first.size,
    part(at, size, into) {
      const wanted = Math.max(0, Math.min(size, first.size - at));
      const bytes = into?.subarray(0, wanted) ?? Buffer.allocUnsafe(wanted);
      let have = 0;
      for (let got = 1; have < bytes.length && got > 0; have += got)
        got = readSync(fd, bytes, have, bytes.length - have, at + have);
      const now = fstatSync(fd);
      if (have < bytes.length || now.size !== first.size || now.mtimeMs !== first.mtimeMs)
        throw new Fault("resource_busy", "The file changed while it was read.", { hint: "Ask again." });
      return bytes;
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}

export function partOf(text: Text, at: number, size: number, into?: Uint8Array): Uint8Array {
  return "part" in text ? text.part(at, size, into) : text.subarray(at, at + size);
}

/** All of a short text. */
export function stringOf(text: Text): string {
  const bytes = partOf(text, 0, text.length);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
}
