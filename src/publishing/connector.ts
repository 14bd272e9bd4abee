/**
 * What one person publishes: the connections of their machines, and the servers that these offer. A machine
 * offers a server by a `hello`; the newest process that offers a name has it. A server whose machine is gone
 * stays in the list for a day, marked as offline, and calls are told so at once.
 */

import { cleanText } from "../lib/clean-text.ts";
import { logUnexpected } from "../observability/unexpected.ts";
import {
  type FrameToCommand,
  type FrameToGateway,
  MAX_PUBLISHED_SERVERS,
  PUBLISH_VERSION,
  PublishClose,
  readFrameToGateway,
  slugOfPublished,
  writeFrame,
} from "../protocol/publishing.ts";
import type { Connection, ConnectorOptions } from "./connector-options.ts";
import { LocalServer } from "./local-server.ts";
import { OpenChannels } from "./open-channels.ts";
import { type Dismissal, type PublishedRow, PublishedRows } from "./published-rows.ts";
import { goneResponse, offlineResponse } from "./published-target.ts";
import type { PublishedList, PublishedServer } from "./publisher.ts";

const DAY_MS = 86_400_000;
/** The command is heard of every 20 seconds; a machine that sleeps closes no connection. */
const SILENT_MS = 60_000;
/** Until what is kept of a server that has left the list is deleted once more. */
const RETRY_MS = 10_000;

const CLOSED_NORMALLY = 1000;
const REDIALLED = "The command has dialled again";

type Refusal = Pick<Extract<FrameToCommand, { t: "refused" }>, "code" | "message">;

const REFUSALS: Readonly<Record<Dismissal, Refusal>> = {
  ended: { code: "off", message: "It was ended on your account page." },
  replaced: { code: "name", message: "Another process publishes a server of this name." },
};

type Frame<T extends FrameToGateway["t"]> = Extract<FrameToGateway, { t: T }>;

export class Connector {
  readonly #options: ConnectorOptions;
  readonly #rows: PublishedRows;
  readonly #open: OpenChannels;
  readonly #known: Map<string, PublishedRow>;
  readonly #servers = new Map<string, LocalServer>();

  constructor(options: ConnectorOptions) {
    this.#options = options;
    this.#rows = new PublishedRows(options.sql, options.now);
    this.#open = new OpenChannels(options.sql, options.now);
    this.#known = new Map(this.#rows.all().map((row) => [row.name, row]));
    // A restart ends connections without a word.
    for (const row of this.#online()) {
      if (options.connectionOf(row.socket) === undefined) this.#lost(row, options.now());
    }
  }

  list(): PublishedList {
    const rows = [...this.#known.values()];
    return {
      version: this.#rows.version,
      changedAt: this.#rows.changedAt,
      servers: rows.filter(({ isPaused }) => isPaused !== true).map(publishedServer),
      paused: rows.filter(({ isPaused }) => isPaused === true).map(publishedServer),
    };
  }

  /** Answers a request of the gateway's connectors to a server. */
  async serve(name: string, request: Request): Promise<Response> {
    const row = this.#known.get(name);
    if (row === undefined) return goneResponse("is not published any more");
    if (row.isPaused === true) return goneResponse("is paused by its person");
    return this.#serverOf(name).serve(request);
  }

  /** Takes a frame of a machine. */
  receive(connection: Connection, text: string): void {
    const frame = readFrameToGateway(text);
    if (frame === undefined) {
      connection.close(PublishClose.mistake, "This is no frame of edgeway publish");
      this.closed(connection.id);
    } else if (frame.t === "hello") this.#hello(connection, frame);
    else if (this.#known.get(frame.name)?.socket === connection.id) this.#take(frame);
  }

  /** A connection is over: its servers are offline. */
  closed(id: string): void {
    for (const row of this.#online()) if (row.socket === id) this.#lost(row, this.#options.now());
  }

  /** The right is over by which a connection was opened: its servers leave the list. */
  revoked(connection: Connection, reason: string): void {
    connection.close(PublishClose.revoked, reason);
    this.#forgetAll(({ socket }) => socket === connection.id);
  }

  /** The same of servers whose machine was gone before the right was. @param lease grant, key or user. */
  leaseEnded(lease: string): void {
    this.#forgetAll(({ leases = [] }) => leases.includes(lease));
  }

  /** Its person ends a server. @returns `false` where there is none. */
  end(name: string): boolean {
    const row = this.#known.get(name);
    if (row === undefined) return false;
    // Its machine may be asleep, and offer the server again when it wakes.
    this.#rows.dismissAll(row);
    this.#forget(row);
    this.#listed();
    this.#refuse(row, "ended", PublishClose.revoked);
    return true;
  }

  /** As `Publisher.setPaused`. */
  setPaused(name: string, isPaused: boolean): boolean {
    const row = this.#known.get(name);
    if (row === undefined || (row.isPaused ?? false) === isPaused) return row !== undefined;
    const { isPaused: _, ...resumed } = row;
    this.#save(isPaused ? { ...row, isPaused } : resumed);
    if (isPaused) {
      const slug = slugOfPublished(name);
      this.#serverOf(name).closeAll(`${slug} was paused while the call ran; it may have run.`);
      this.#left(name);
    } else this.#rows.returned(name);
    this.#listed();
    return true;
  }

  /** Servers that were offline for a day leave the list. @returns when something is due next, if anything is. */
  sweep(): number | undefined {
    const now = this.#options.now();
    this.#forgetAll((row) => (leavesAt(row) ?? Infinity) <= now);
    const due = [...this.#known.values()].flatMap((row) => leavesAt(row) ?? []);
    if (this.#rows.gone().length > 0) due.push(now + RETRY_MS);
    return due.length === 0 ? undefined : Math.min(...due);
  }

  /** Deletes what is kept of servers that have left the list, where that has not worked yet. */
  deleteKept(): void {
    for (const name of this.#rows.gone()) this.#deleteKept(name);
  }

  #hello(connection: Connection, hello: Frame<"hello">): void {
    const { name, generation, info } = hello;
    const before = this.#known.get(name);
    const holder = before && this.#holderOf(before);
    // The hello of a process may come after that of its successor, or of its own next connection.
    const isLate = holder !== undefined && holder.openedAt > connection.openedAt;
    if (isLate && before?.generation === generation) {
      connection.close(CLOSED_NORMALLY, REDIALLED);
      return;
    }
    if (isLate && this.#rows.dismissalOf(hello) === undefined)
      this.#rows.dismiss(hello, "replaced");
    const dismissal = this.#rows.dismissalOf(hello);
    // One that was replaced may be the only one again.
    const isOver = dismissal === "ended" || (dismissal !== undefined && holder !== undefined);
    const refusal = isOver ? REFUSALS[dismissal] : this.#refusalOf(hello);
    if (refusal !== undefined) {
      connection.send(writeFrame({ t: "refused", name, ...refusal }));
      return;
    }
    if (before !== undefined && before.socket !== connection.id) this.#replace(before, generation);
    const row: PublishedRow = {
      ...{ name, generation, socket: connection.id, leases: connection.leases },
      host: cleanText(info.host),
      since: before?.since ?? this.#options.now(),
      ...(before?.isPaused === true && { isPaused: true }),
    };
    if (before === undefined) this.#rows.returned(name);
    if (dismissal !== undefined) this.#rows.readmit(hello);
    this.#save(row);
    connection.send(writeFrame({ t: "welcome", name, slug: slugOfPublished(name) }));
    if (before === undefined) this.#listed();
    else if (row.isPaused !== true) this.#options.onState(slugOfPublished(name), undefined);
  }

  #refusalOf({ name, v: version }: Frame<"hello">): Refusal | undefined {
    if (!this.#options.isOn) return { code: "off", message: PUBLISHING_OFF };
    if (version !== PUBLISH_VERSION) {
      const message = `This gateway speaks version ${PUBLISH_VERSION} of publishing, and the command version ${version}.`;
      return { code: "version", message };
    }
    if (this.#known.has(name) || this.#known.size < MAX_PUBLISHED_SERVERS) return undefined;
    const message = `You publish ${MAX_PUBLISHED_SERVERS} servers already, which is the limit; end one on your account page.`;
    return { code: "limit", message };
  }

  /** Two processes must not take a name from each other by turns. */
  #replace(row: PublishedRow, newer: string): void {
    if (row.generation === newer) {
      const older = this.#options.connectionOf(row.socket);
      older?.close(CLOSED_NORMALLY, REDIALLED);
      this.closed(row.socket);
      return;
    }
    this.#rows.dismiss(row, "replaced");
    if (row.offlineSince === undefined) this.#lost(row, this.#options.now());
    this.#refuse(row, "replaced", PublishClose.replaced);
  }

  /** Tells a process that it publishes a server no more. @param code closes its connection where that was its last. */
  #refuse({ name, socket }: PublishedRow, why: Dismissal, code: number): void {
    const connection = this.#options.connectionOf(socket);
    const refusal = REFUSALS[why];
    connection?.send(writeFrame({ t: "refused", name, ...refusal }));
    if (this.#online().some((row) => row.socket === socket)) return;
    connection?.close(code, refusal.message);
  }

  #take(frame: Exclude<FrameToGateway, Frame<"hello">>): void {
    const server = this.#serverOf(frame.name);
    const row = this.#known.get(frame.name);
    switch (frame.t) {
      case "message":
        return server.receive(frame.channel, frame.body);
      case "closed":
        server.closed(frame);
        if (frame.reason !== "crashing" || row === undefined) return;
        return this.#lost({ ...row, why: "crashing" }, this.#options.now());
      case "bye":
        if (row !== undefined) this.#lost(row, this.#options.now());
    }
  }

  #serverOf(name: string): LocalServer {
    let server = this.#servers.get(name);
    if (server === undefined) {
      const { windowBytes, randomId } = this.#options;
      server = new LocalServer({
        ...{ name, windowBytes, randomId, open: this.#open },
        send: (frame) => this.#send(name, frame),
        offline: () => offlineResponse(this.#whyOffline(name)),
      });
      this.#servers.set(name, server);
    }
    return server;
  }

  #send(name: string, frame: FrameToCommand): boolean {
    const row = this.#known.get(name);
    if (row === undefined || row.offlineSince !== undefined) return false;
    const connection = this.#holderOf(row);
    if (connection === undefined) {
      const silent = this.#options.connectionOf(row.socket);
      silent?.close(PublishClose.restart, "Nothing was heard of the machine for a minute");
      this.closed(row.socket);
      return false;
    }
    connection.send(writeFrame(frame));
    return true;
  }

  /** @returns the connection that publishes a server; `undefined` where it is over, or nothing is heard of its machine. */
  #holderOf({ socket }: PublishedRow): Connection | undefined {
    const connection = this.#options.connectionOf(socket);
    const isSilent = this.#options.now() - (connection?.seenAt ?? 0) > SILENT_MS;
    return isSilent ? undefined : connection;
  }

  #lost(row: PublishedRow, since: number): void {
    const { name } = row;
    const slug = slugOfPublished(name);
    this.#save({ ...row, offlineSince: since });
    this.#serverOf(name).disconnected(
      `The connection to the machine that publishes ${slug} was lost while the call ran; it may have run.`,
    );
    if (row.isPaused === true) return;
    this.#options.onState(slug, { message: `Upstream "${slug}" ${this.#whyOffline(name)}`, since });
  }

  #whyOffline(name: string): string {
    const { offlineSince, why } = this.#known.get(name) ?? {};
    if (offlineSince === undefined) return "is not connected";
    const since = `${new Date(offlineSince).toISOString().slice(0, 16).replace("T", " ")} UTC`;
    return why === "crashing"
      ? `is not running since ${since}: its process has crashed five times in a minute`
      : `is not connected since ${since}`;
  }

  #save(row: PublishedRow): void {
    this.#known.set(row.name, row);
    this.#rows.save(row);
  }

  #forgetAll(isIt: (row: PublishedRow) => boolean): void {
    const rows = [...this.#known.values()].filter(isIt);
    for (const row of rows) this.#forget(row);
    if (rows.length > 0) this.#listed();
  }

  #forget({ name }: PublishedRow): void {
    this.#known.delete(name);
    this.#rows.delete(name);
    this.#serverOf(name).disconnected(`${slugOfPublished(name)} is not published any more`);
    this.#servers.delete(name);
    this.#left(name);
  }

  /** It is in no list any more. */
  #left(name: string): void {
    this.#rows.left(name);
    this.#deleteKept(name);
  }

  /** The feed of a server is another object, which may be out of reach. */
  #deleteKept(name: string): void {
    const { waitUntil, onGone } = this.#options;
    const deleted = onGone(slugOfPublished(name)).then(() => this.#rows.deleted(name));
    waitUntil(deleted.catch(logUnexpected));
  }

  #listed(): void {
    this.#rows.grown();
    this.#options.onListed();
  }

  #online(): readonly PublishedRow[] {
    return [...this.#known.values()].filter(({ offlineSince }) => offlineSince === undefined);
  }
}

/** One that is paused stays as long as its person likes. */
function leavesAt({ isPaused, offlineSince }: PublishedRow): number | undefined {
  return isPaused === true || offlineSince === undefined ? undefined : offlineSince + DAY_MS;
}

function publishedServer({ name, host, since, offlineSince }: PublishedRow): PublishedServer {
  return { name, host, since, ...(offlineSince !== undefined && { offlineSince }) };
}

/** For the person at the command. */
export const PUBLISHING_OFF =
  'Publishing is off at this gateway; its operator can set PUBLISHING to "on".';
