/**
 * What a client has set in its session at a server: the log level, and the resources that it is subscribed
 * to. A session that is opened in place of another is brought to the same state.
 */

import { mapLimited } from "../../lib/map-limited.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { SavedConnection } from "./saved-connection.ts";

const RESTORED_AT_ONCE = 4;

/** The settings that the caller keeps. */
export interface CallerSettings {
  /**
   * The log level that the client has set for every server. It is sent to this one, if it logs,
   * whenever a session is opened. Without it, the level that the client set at this one is sent again.
   */
  readonly logLevel?: () => string | undefined;
  /**
   * The resources that every session is subscribed to when it is opened, kept by the caller. Without
   * it, the connection keeps the client's own subscriptions and makes them again.
   */
  readonly subscriptions?: () => readonly string[];
}

export class SessionSettings {
  readonly #caller: CallerSettings;
  #logLevel: string | undefined;
  /** The client's own subscriptions, unless the caller keeps them. */
  readonly #subscriptions: Set<string>;

  constructor(caller: CallerSettings, saved: SavedConnection | undefined) {
    this.#caller = caller;
    this.#logLevel = saved?.logLevel;
    this.#subscriptions = new Set(caller.subscriptions === undefined ? saved?.subscriptions : []);
  }

  /** The log level that the client has set at this server. */
  get logLevel(): string | undefined {
    return this.#logLevel;
  }

  get subscriptions(): ReadonlySet<string> {
    return this.#subscriptions;
  }

  /** Keeps what a successful call has set in the session. @returns `true` when there was something to keep. */
  remember({ method, params }: Call): boolean {
    const level = params?.level;
    const uri = params?.uri;
    if (method === "logging/setLevel" && typeof level === "string") this.#logLevel = level;
    else if (this.#caller.subscriptions !== undefined) return false;
    else if (method === "resources/subscribe" && typeof uri === "string") {
      this.#subscriptions.add(uri);
    } else if (method === "resources/unsubscribe" && typeof uri === "string") {
      this.#subscriptions.delete(uri);
    } else return false;
    return true;
  }

  /**
   * Brings a new session to this state.
   *
   * @param capabilities of the server.
   * @param send sends it one request.
   */
  async restore({ logging }: JsonObject, send: (call: Call) => Promise<unknown>): Promise<void> {
    const wanted = logging === undefined ? undefined : this.#caller.logLevel?.();
    const level = wanted ?? this.#logLevel;
    if (level !== undefined) await send({ method: "logging/setLevel", params: { level } });
    const uris = this.#caller.subscriptions?.() ?? [...this.#subscriptions];
    await mapLimited(uris, RESTORED_AT_ONCE, (uri) =>
      send({ method: "resources/subscribe", params: { uri } }),
    );
  }
}
