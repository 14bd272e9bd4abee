/** The state of a server's connection that outlives its holder's memory; plain data of a bounded size. */

import { canSubscribe } from "../../protocol/capabilities.ts";
import { takesTasks } from "../../protocol/capabilities.ts";
import type { Connected, Transport } from "./find-transport.ts";
import type { Handshake } from "./handshake.ts";

export interface SavedConnection {
  readonly transport: Transport;
  readonly sessionId: string | undefined;
  /** The account that the session was opened with; absent at a server without accounts. */
  readonly accountId?: string | undefined;
  readonly handshake: Handshake;
  readonly logLevel: string | undefined;
  /** The resources that the session is subscribed to; absent when there are none. */
  readonly subscriptions?: readonly string[];
  /** The server's own ids of the client's newest tasks, and the ids that the client has; absent when there are none. */
  readonly tasks?: readonly TaskIds[];
}

/** The server's own id of a task, and the id that the client has. */
export type TaskIds = readonly [own: string, given: string];

/** A modern server has no session to keep. */
export interface SavedModern {
  readonly era: "modern";
  /** The log level that the client has set at this server. */
  readonly logLevel?: string;
}

export type SavedServer = SavedConnection | SavedModern;

export function isSavedModern(saved: SavedServer): saved is SavedModern {
  return "era" in saved;
}

/** Of the server's capabilities and description, which may be large, only what is read later is kept. */
export function saveConnection(
  { wire, transport, handshake }: Connected,
  logLevel: string | undefined,
  subscriptions: ReadonlySet<string>,
): SavedConnection {
  const { revision, capabilities } = handshake;
  const { logging } = capabilities;
  const kept = {
    ...(logging === undefined ? {} : { logging: {} }),
    ...(canSubscribe(capabilities) ? { resources: { subscribe: true } } : {}),
    ...(takesTasks(capabilities) ? { tasks: { requests: { tools: { call: {} } } } } : {}),
  };
  return {
    transport,
    sessionId: wire.sessionId,
    ...(wire.accountId === undefined ? {} : { accountId: wire.accountId }),
    logLevel,
    handshake: { revision, capabilities: kept, serverInfo: {} },
    ...(subscriptions.size === 0 ? {} : { subscriptions: [...subscriptions] }),
  };
}
