/**
 * One legacy session at one upstream, for one client: opened by a handshake, kept, and repaired
 * when the upstream forgets it. The transport is a wire underneath.
 *
 * A call is sent a second time in one case only: the upstream refused the session id at the
 * door, so the call provably did not run.
 */

import type { Call, Peer } from "../../protocol/exchange.ts";
import { notification, type Parsed, type Reply } from "../../protocol/json-rpc.ts";
import type { UpstreamTarget } from "../target.ts";
import { UpstreamError } from "../upstream-error.ts";
import { connect, type Connected, restoreWire, type Transport } from "./connect.ts";
import { Exchanges } from "./exchanges.ts";
import type { Handshake, LegacyClient } from "./handshake.ts";
import { runExchange } from "./run-exchange.ts";

const MAX_QUIET_REPAIRS = 8;
const FIRST_PAUSE_MS = 500;

/** What outlives the holder's memory; plain data. */
export interface SavedConnection {
  readonly transport: Transport;
  readonly sessionId: string | undefined;
  readonly handshake: Handshake;
  readonly logLevel: string | undefined;
  readonly subscriptions: readonly string[];
}

export interface ConnectionOptions {
  readonly target: UpstreamTarget;
  readonly client: LegacyClient;
  /** Takes what belongs to no request. */
  readonly unsolicited: Peer;
  /** Called with the new state whenever it changes. */
  readonly save: (state: SavedConnection) => void;
  readonly saved?: SavedConnection | undefined;
}

export class LegacyConnection {
  readonly #target: UpstreamTarget;
  readonly #client: LegacyClient;
  readonly #unsolicited: Peer;
  readonly #save: (state: SavedConnection) => void;
  readonly #exchanges: Exchanges;
  #connected: Connected | undefined;
  #repairing: Promise<Connected> | undefined;
  #isListening = false;
  #isClosed = false;
  #logLevel: string | undefined;
  readonly #subscriptions = new Set<string>();

  constructor({ target, client, unsolicited, save, saved }: ConnectionOptions) {
    this.#target = target;
    this.#client = client;
    this.#unsolicited = unsolicited;
    this.#save = save;
    this.#exchanges = new Exchanges(async (response) => {
      // An answer that cannot be delivered is the server's loss; its own timeout tells it.
      await this.#connected?.wire.post(response).catch(() => undefined);
    });
    if (saved === undefined) return;
    this.#connected = {
      wire: restoreWire(target, saved.transport, this.#deliver, saved),
      transport: saved.transport,
      handshake: saved.handshake,
    };
    this.#logLevel = saved.logLevel;
    for (const uri of saved.subscriptions) this.#subscriptions.add(uri);
  }

  readonly #deliver = (parsed: Parsed): Promise<void> =>
    this.#exchanges.receive(parsed, this.#unsolicited);

  /** Shakes hands. The caller sends `notifications/initialized`. */
  async open(): Promise<Handshake> {
    return (await this.#open()).handshake;
  }

  async #open(): Promise<Connected> {
    const connected = await connect(this.#target, this.#client, this.#exchanges, this.#deliver);
    if (this.#isClosed) {
      // Closed while it was being opened: nobody is left to use it.
      await connected.wire.close();
      throw new UpstreamError(this.#target.slug, "lost", "was left when the session ended");
    }
    this.#connected = connected;
    this.#persist();
    return connected;
  }

  /**
   * Relays one request.
   *
   * @param signal aborted when the client cancels: the upstream is told, and the promise rejects
   *   with the abort reason.
   * @throws UpstreamError when no answer can be had.
   */
  async request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const reply = await this.#withRepair((connected) => this.#run(connected, call, peer, signal));
    if ("result" in reply) this.#remember(call);
    return reply;
  }

  /** Relays one notification; a session that was forgotten is opened again for it. */
  async notify(call: Call): Promise<void> {
    const message = notification(call.method, call.params);
    await this.#withRepair(({ wire }) => wire.post(message));
  }

  /** Runs what was refused because the session was forgotten once more, on a new session. */
  async #withRepair<T>(run: (connected: Connected) => Promise<T>): Promise<T> {
    // Without a connection an earlier repair has failed: it is due again.
    const connected = await (this.#repairing ?? this.#connected ?? this.#repair());
    try {
      return await run(connected);
    } catch (error) {
      if (!(error instanceof UpstreamError) || error.failure !== "session-lost") throw error;
      return run(await this.#repair(connected));
    }
  }

  /** Opens the stream of what belongs to no request, and keeps it open. */
  listen(): void {
    this.#isListening = true;
    const connected = this.#connected;
    connected?.wire.listen(this.#deliver, () => void this.#repairWhileListening(connected));
  }

  unlisten(): void {
    this.#isListening = false;
    this.#connected?.wire.unlisten();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#exchanges.withdrawAllAsks();
    const connected = this.#connected;
    this.#connected = undefined;
    await connected?.wire.close();
  }

  #run({ wire }: Connected, call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    return runExchange({
      target: this.#target,
      exchanges: this.#exchanges,
      wire,
      call,
      peer,
      signal,
    });
  }

  /** Opens a new session in place of a forgotten one; many calls may find out at once. */
  #repair(forgotten?: Connected): Promise<Connected> {
    if (this.#repairing !== undefined) return this.#repairing;
    // Another call found out earlier, and the repair is done.
    if (this.#connected !== undefined && this.#connected !== forgotten) {
      return Promise.resolve(this.#connected);
    }
    this.#exchanges.withdrawAllAsks();
    forgotten?.wire.unlisten();
    this.#connected = undefined;
    this.#repairing = this.#reopen()
      .catch((error: unknown) => {
        this.#connected = undefined; // half restored is not repaired
        throw error;
      })
      .finally(() => {
        this.#repairing = undefined;
      });
    return this.#repairing;
  }

  /** Nobody calls, so nobody else would find out that the session is gone. */
  async #repairWhileListening(forgotten: Connected): Promise<void> {
    for (let attempt = 0; attempt < MAX_QUIET_REPAIRS; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** attempt));
      const isRepaired = this.#connected !== undefined && this.#connected !== forgotten;
      if (!this.#isListening || this.#isClosed || isRepaired) return;
      try {
        await this.#repair(forgotten);
        return;
      } catch {
        // Not yet: the upstream may be on its way up. The next request tells the client.
      }
    }
  }

  /** Brings a new session to the state of the old one. */
  async #reopen(): Promise<Connected> {
    const connected = await this.#open();
    await connected.wire.post(notification("notifications/initialized"));
    const restored: Call[] = [...this.#subscriptions].map((uri) => ({
      method: "resources/subscribe",
      params: { uri },
    }));
    if (this.#logLevel !== undefined) {
      restored.unshift({ method: "logging/setLevel", params: { level: this.#logLevel } });
    }
    for (const call of restored) {
      await this.#run(connected, call, this.#unsolicited, new AbortController().signal);
    }
    if (this.#isListening) this.listen();
    return connected;
  }

  /** What the session at the server consists of, so that a repair can make it again. */
  #remember({ method, params }: Call): void {
    const uri = params?.["uri"];
    const level = params?.["level"];
    if (method === "logging/setLevel" && typeof level === "string") this.#logLevel = level;
    else if (method === "resources/subscribe" && typeof uri === "string")
      this.#subscriptions.add(uri);
    else if (method === "resources/unsubscribe" && typeof uri === "string") {
      this.#subscriptions.delete(uri);
    } else return;
    this.#persist();
  }

  #persist(): void {
    if (this.#connected === undefined) return;
    const { wire, transport, handshake } = this.#connected;
    this.#save({
      transport,
      sessionId: wire.sessionId,
      handshake,
      logLevel: this.#logLevel,
      subscriptions: [...this.#subscriptions],
    });
  }
}
