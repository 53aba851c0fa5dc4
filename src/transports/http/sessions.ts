import { type McpServer, type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { unguessableId } from "../../base/ids.ts";
import type { Principal } from "../../base/principal.ts";
import { createEventStore } from "./events.ts";

interface Session {
  readonly id: string;
  readonly owner: Principal;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  used_ms: number;
}

export interface Sessions {
  /** The caller's own session of this id; another's does not exist. */
  find(id: string, owner: Principal): WebStandardStreamableHTTPServerTransport | undefined;
  /** A transport that becomes a session when its first message is an `initialize`. */
  open(
    owner: Principal,
    makeServer: (session_id: string) => Server | McpServer,
  ): Promise<WebStandardStreamableHTTPServerTransport>;
  readonly size: () => number;
  close(): Promise<void>;
}

interface SessionLimits {
  readonly max_per_principal: number;
  readonly max_request_bytes: number;
  readonly idle_ms: number;
}

/** Sessions of the revisions that have them. Each belongs to a caller, who has so many; the one longest unused makes room. */
export function createSessions(limits: SessionLimits): Sessions {
  const sessions = new Map<string, Session>();
  const sweep = setInterval(
    () => {
      for (const session of sessions.values()) if (Date.now() - session.used_ms > limits.idle_ms) end(session);
    },
    Math.min(limits.idle_ms, 60_000),
  ).unref();

  function end(session: Session): void {
    if (sessions.delete(session.id)) void session.transport.close().catch(() => {});
  }

  function makeRoom(owner: Principal): void {
    const own = [...sessions.values()]
      .filter((session) => session.owner === owner)
      .sort((a, b) => a.used_ms - b.used_ms);
    for (const oldest of own.slice(0, Math.max(0, own.length - limits.max_per_principal + 1))) end(oldest);
  }

  return {
    find(id, owner) {
      const session = sessions.get(id);
      if (!session || session.owner !== owner) return undefined;
      session.used_ms = Date.now();
      return session.transport;
    },
    async open(owner, makeServer) {
      const id = unguessableId("s");
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => id,
        eventStore: createEventStore(),
        maxRequestBodySize: limits.max_request_bytes,
        onsessioninitialized: () => {
          makeRoom(owner);
          sessions.set(id, { id, owner, transport, used_ms: Date.now() });
        },
        onsessionclosed: () => void sessions.delete(id),
      });
      await makeServer(id).connect(transport);
      return transport;
    },
    size: () => sessions.size,
    async close() {
      clearInterval(sweep);
      for (const session of [...sessions.values()]) end(session);
    },
  };
}
