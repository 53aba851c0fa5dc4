/** Messages between the server and its child: a length, a JSON head, then bytes. Nothing else is understood, so nothing else can be sent. */

export interface Frame<Head = Record<string, unknown>> {
  readonly head: Head;
  readonly body: Buffer;
}

export function encodeFrame(head: unknown, body: Uint8Array = new Uint8Array(0)): Uint8Array[] {
  const json = Buffer.from(JSON.stringify(head));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(json.length, 0);
  lengths.writeUInt32LE(body.length, 4);
  return body.length === 0 ? [Buffer.concat([lengths, json])] : [Buffer.concat([lengths, json]), body];
}

/** Takes chunks as they come and tells of each frame when it is whole. A frame larger than the limit is an error, before it is read. */
export function createFrameReader(max_bytes: number, onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let have = 0;
  let need = 8;
  const joined = () => {
    if (chunks.length > 1) chunks = [Buffer.concat(chunks, have)];
    return chunks[0]!;
  };
  return (chunk) => {
    chunks.push(chunk);
    have += chunk.length;
    while (have >= need) {
      const all = joined();
      const json_size = all.readUInt32LE(0);
      const body_size = all.readUInt32LE(4);
      need = 8 + json_size + body_size;
      if (need > max_bytes) throw new RangeError("frame too large");
      if (have < need) return;
      const head: unknown = JSON.parse(all.toString("utf8", 8, 8 + json_size));
      const body = all.subarray(8 + json_size, need);
      chunks = have > need ? [all.subarray(need)] : [];
      have -= need;
      need = 8;
      if (typeof head !== "object" || head === null) throw new TypeError("not a frame");
      onFrame({ head: head as Record<string, unknown>, body });
    }
  };
}
