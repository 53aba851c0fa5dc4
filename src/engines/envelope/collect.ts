import { StringDecoder } from "node:string_decoder";

/** One stream of a command, read while it runs: whole when it is not too long, else its beginning, its end, and trouble in between. */
export interface Collector {
  push(chunk: Uint8Array): void;
  readonly bytes: number;
  end(): Collected;
}

export interface Collected {
  readonly text: string;
  readonly lines: number;
  readonly condensed: boolean;
}

const HEAD = 1024 * 1024;
const TAIL = 1024 * 1024;
const MIDDLE = 512 * 1024;
/** What follows a line of trouble says what it was. */
const AFTER = 10;
/** Cheap to look for in a flood; what it finds is judged later. */
const SIGNAL =
  /not ok|FAIL|[Ff]ailed|[Ff]ailure|[Ee]rror|ERR|[Pp]anic|Traceback|[Ee]xception|[Ff]atal|FATAL|✖|✗|×|✕|●|Segmentation|refused|denied|Bail out|\nE {3}/g;

export function createCollector(): Collector {
  const decoder = new StringDecoder("utf8");
  const head: string[] = [];
  let headSize = 0;
  let tail: string[] = [];
  let tailSize = 0;
  let bytes = 0;
  let lines = 0;
  let ended = true;
  const middle = createMiddle();

  function take(text: string): void {
    if (text === "") return;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
    ended = text.endsWith("\n");
    if (headSize < HEAD) {
      head.push(text);
      headSize += text.length;
      return;
    }
    tail.push(text);
    tailSize += text.length;
    while (tailSize - tail[0]!.length >= TAIL) {
      const oldest = tail.shift()!;
      tailSize -= oldest.length;
      middle.push(oldest);
    }
  }

  return {
    push(chunk) {
      bytes += chunk.length;
      take(decoder.write(chunk));
    },
    get bytes() {
      return bytes;
    },
    end() {
      take(decoder.end());
      const total = lines + (ended ? 0 : 1);
      const first = head.join("");
      const last = tail.join("");
      tail = [];
      const between = middle.end();
      return between === undefined
        ? { text: first + last, lines: total, condensed: false }
        : { text: `${first}${between}${last}`, lines: total, condensed: true };
    },
  };
}

interface Middle {
  push(text: string): void;
  /** Undefined when nothing fell out of the two ends. */
  end(): string | undefined;
}

function createMiddle(): Middle {
  const kept: string[] = [];
  let size = 0;
  let carry = "";
  let began = false;
  let dropped = 0;

  function scan(text: string): void {
    SIGNAL.lastIndex = 0;
    for (let found = SIGNAL.exec(text); found; found = SIGNAL.exec(text)) {
      const at = found[0].startsWith("\n") ? found.index + 1 : found.index;
      const from = text.lastIndexOf("\n", at - 1) + 1;
      let to = at;
      for (let line = 0; line <= AFTER && to >= 0; line++) to = text.indexOf("\n", to + 1);
      const end = to < 0 ? text.length : to + 1;
      if (size < MIDDLE) {
        // A copy: a slice would keep all of its text alive.
        const piece = `[...]\n${text.slice(from, Math.min(end, from + 8192))}`;
        kept.push(Buffer.from(piece).toString());
        size += piece.length;
      } else dropped++;
      SIGNAL.lastIndex = end;
    }
  }

  return {
    push(text) {
      began = true;
      const whole = carry + text;
      const end = whole.lastIndexOf("\n") + 1;
      if (end === 0 && whole.length < 65536) {
        carry = whole;
        return;
      }
      carry = end === 0 ? "" : whole.slice(end);
      scan(end === 0 ? whole : whole.slice(0, end));
    },
    end() {
      if (!began) return undefined;
      scan(carry);
      const more = dropped > 0 ? `[... ${dropped} more places like these ...]\n` : "";
      return `\n${kept.join("")}${more}[...]\n`;
    },
  };
}
