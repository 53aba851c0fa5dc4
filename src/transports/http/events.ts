import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

interface Kept {
  readonly id: string;
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly size: number;
}

const MAX_EVENTS = 500;
const MAX_CHARS = 4 * 1024 * 1024;

/** What a session sent last, for a client that lost its connection and comes back for the rest. Bounded: the oldest go. */
export function createEventStore(): EventStore {
  let kept: Kept[] = [];
  let chars = 0;
  let count = 0;

  return {
    async storeEvent(stream, message) {
      const size = JSON.stringify(message).length;
      const id = `${stream}_${++count}`;
      kept.push({ id, stream, message, size });
      chars += size;
      while (kept.length > MAX_EVENTS || (chars > MAX_CHARS && kept.length > 1)) chars -= kept.shift()!.size;
      return id;
    },
    async getStreamIdForEventId(id) {
      return kept.find((event) => event.id === id)?.stream;
    },
    async replayEventsAfter(id, { send }) {
      const at = kept.findIndex((event) => event.id === id);
      if (at === -1) throw new Error("That event is not kept any more");
      const { stream } = kept[at]!;
      for (const event of kept.slice(at + 1)) if (event.stream === stream) await send(event.id, event.message);
      kept = kept.slice(-MAX_EVENTS);
      return stream;
    },
  };
}
