/** The state of one scripted upstream: its script, its sessions, its open streams, its log. */

import type { ServerResponse } from "node:http";

import type { Reaction, Recorded, Script } from "./scripted-upstream-script.ts";

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export class World {
  readonly slug: string;
  script: Script;
  readonly log: Recorded[] = [];
  readonly sessions = new Set<string>();
  /** Streams of what belongs to no request: GET streams and listen streams, oldest first. */
  readonly streams: ServerResponse[] = [];
  #reactions = new Map<string, Reaction[]>();
  #gates = new Map<string, Gate>();
  /** The last session that was opened. */
  newestSession: string | undefined;
  #count = 0;

  constructor(slug: string, script: Script) {
    this.slug = slug;
    this.script = script;
    this.restart(script);
  }

  /** Takes a new script; sessions, streams and the log stay. */
  restart(script: Script): void {
    this.script = script;
    this.#reactions = new Map(
      Object.entries(script.reactions ?? {}).map(([name, list]) => [name, [...list]]),
    );
  }

  /** How the next request of this kind is met, if the script says. */
  nextReaction(kind: string): Reaction | undefined {
    const list = this.#reactions.get(kind);
    return list?.[0]?.isLasting === true ? list[0] : list?.shift();
  }

  openSession(): string {
    const id = `${this.slug}-session-${++this.#count}`;
    this.sessions.add(id);
    this.newestSession = id;
    return id;
  }

  /** Resolves once the test opens the gate. */
  gate(name: string): Promise<void> {
    return this.#gate(name).opened;
  }

  openGate(name: string): void {
    this.#gate(name).open();
  }

  #gate(name: string): Gate {
    const found = this.#gates.get(name);
    if (found !== undefined) return found;
    const { promise, resolve } = Promise.withResolvers<void>();
    const gate: Gate = { opened: promise, open: resolve };
    this.#gates.set(name, gate);
    return gate;
  }

  addStream(response: ServerResponse): void {
    this.streams.push(response);
    response.once("close", () => this.streams.splice(this.streams.indexOf(response), 1));
  }

  /** Writes to the newest stream. @returns whether there was one. */
  send(text: string): boolean {
    const newest = this.streams.at(-1);
    newest?.write(text);
    return newest !== undefined;
  }

  /** Writes to every stream, as servers do that notify every listener. @returns like `send`. */
  tell(text: string): boolean {
    for (const stream of this.streams) stream.write(text);
    return this.streams.length > 0;
  }

  /** Breaks every open stream. @returns how many there were. */
  hangUp(): number {
    const streams = [...this.streams];
    for (const stream of streams) stream.destroy();
    return streams.length;
  }
}
