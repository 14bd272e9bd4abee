/**
 * Plays steps to a branch of the fan-out, keeps account of what it owes to whom, and judges in the
 * end what it did.
 */

import { vi } from "vitest";

import type { News, Topic } from "../../../../src/catalog/feeds.ts";
import type { Mode } from "./fan-out-fakes.ts";
import type { World } from "./fan-out-world.ts";

export const SESSIONS = ["s1", "s2", "s3"];
export const LISTENERS = ["l1", "l2"];
export const SLUGS = ["a", "b"];
export const TOPICS: readonly Topic[] = ["tools", "resources", "uri:x", "uri:y"];

export type Step =
  | { readonly do: "subscribe" | "unsubscribe"; session: string; slug: string; topics: Topic[] }
  | { readonly do: "leave"; session: string }
  | { readonly do: "publish"; slug: string; topics: Topic[] }
  | { readonly do: "listen"; listener: string; slug: string; topics: Topic[] }
  | { readonly do: "hangUp" | "read" | "break"; listener: string }
  | { readonly do: "arrive"; index: number }
  | { readonly do: "session"; session: string; mode: Mode }
  | { readonly do: "feed"; slug: string; mode: Mode }
  | { readonly do: "pass"; ms: number }
  | { readonly do: "evict" | "kill"; arrived: boolean };

/** What is owed to one subscriber for one topic: the highest number of news since it settled. */
class Owed {
  readonly #seqs = new Map<string, number>();
  /** Wants it, and was promised it. */
  readonly settled = new Set<string>();

  news({ slug, seq, topics }: News): void {
    for (const topic of topics) {
      const key = `${slug} ${topic}`;
      if (this.settled.has(key)) this.#seqs.set(key, seq);
    }
  }

  drop(key: string): void {
    this.settled.delete(key);
    this.#seqs.delete(key);
  }

  clear(): void {
    this.settled.clear();
    this.#seqs.clear();
  }

  /** The part of it that was not received. */
  missing(received: readonly News[]): readonly string[] {
    return [...this.#seqs]
      .filter(
        ([key, seq]) =>
          !received.some(
            (news) =>
              news.seq >= seq && news.topics.some((topic) => key === `${news.slug} ${topic}`),
          ),
      )
      .map(([key, seq]) => `${key} ${seq}`);
  }
}

/** News of a topic that came, although nothing was published since the time before. */
function repeated(received: readonly News[], published: readonly News[]): readonly string[] {
  const before = new Map<string, number>();
  const found: string[] = [];
  for (const { slug, seq, topics } of received) {
    for (const topic of topics) {
      const key = `${slug} ${topic}`;
      const since = before.get(key) ?? 0;
      const isNew = published.some(
        (news) =>
          news.slug === slug && news.seq > since && news.seq <= seq && news.topics.includes(topic),
      );
      if (!isNew) found.push(`${key} ${seq} after ${since}`);
      before.set(key, seq);
    }
  }
  return found;
}

export class Trial {
  readonly world: World;
  readonly published: News[] = [];
  readonly violations: string[] = [];
  readonly #owed = new Map<string, Owed>();
  /** What a session may be notified of: it has asked for it, and has not left. */
  readonly #mayHear = new Map<string, Set<string>>();
  #seq = 0;

  constructor(world: World) {
    this.world = world;
    // What it wants to hear of after that, it subscribes to anew.
    world.onGone = (name) => this.owedTo(name).clear();
    world.onDeliver = (name, { slug, topics }) => {
      for (const topic of topics) {
        if (this.#mayHear.get(name)?.has(`${slug} ${topic}`) === true) continue;
        this.violations.push(`${name} was notified of ${slug} ${topic}`);
      }
    };
  }

  async take(step: Step): Promise<void> {
    const { world } = this;
    switch (step.do) {
      case "subscribe": {
        const { session, slug, topics } = step;
        const may = this.#mayHear.get(session) ?? new Set();
        this.#mayHear.set(session, may);
        for (const topic of topics) may.add(`${slug} ${topic}`);
        const owed = this.owedTo(session);
        const { branch } = world;
        void branch.subscribe(session, { [slug]: topics }).then((honoured) => {
          // Whoever called a branch that died gets no answer.
          if (world.branch !== branch) return;
          for (const topic of topics) {
            const key = `${slug} ${topic}`;
            if (honoured[slug]?.includes(topic) !== true) owed.drop(key);
            // Unless it has left meanwhile.
            else if (may.has(key)) owed.settled.add(key);
          }
        });
        break;
      }
      case "unsubscribe": {
        const { session, slug, topics } = step;
        world.branch.unsubscribe(session, { [slug]: topics });
        for (const topic of topics) {
          this.owedTo(session).drop(`${slug} ${topic}`);
          this.#mayHear.get(session)?.delete(`${slug} ${topic}`);
        }
        break;
      }
      case "leave":
        world.branch.unsubscribe(step.session);
        this.owedTo(step.session).clear();
        this.#mayHear.get(step.session)?.clear();
        break;
      case "publish": {
        const news: News = { slug: step.slug, seq: (this.#seq += 1), topics: step.topics };
        this.published.push(news);
        for (const id of LISTENERS) this.#settle(id);
        for (const owed of this.#owed.values()) owed.news(news);
        world.branch.publish(news);
        break;
      }
      case "listen":
        if (world.sockets.has(step.listener)) world.hangUp(step.listener);
        this.owedTo(step.listener).clear();
        world.listen(step.listener, { [step.slug]: step.topics });
        break;
      case "hangUp":
        world.hangUp(step.listener);
        this.owedTo(step.listener).clear();
        break;
      case "read": {
        const socket = world.sockets.get(step.listener);
        if (socket !== undefined && socket.closed === undefined) world.read(socket);
        break;
      }
      case "break": {
        const socket = world.sockets.get(step.listener);
        if (socket !== undefined) socket.isBroken = true;
        break;
      }
      case "arrive":
        world.arrive(step.index);
        break;
      case "session":
        world.session(step.session).mode = step.mode;
        break;
      case "feed":
        world.feed(step.slug).mode = step.mode;
        break;
      case "pass":
        await world.pass(step.ms);
        break;
      case "evict":
        world.evict(() => step.arrived);
        break;
      case "kill":
        world.kill(() => step.arrived);
        break;
    }
    await vi.advanceTimersByTimeAsync(0);
    for (const id of LISTENERS) this.#settle(id);
  }

  /** Everything works again, and everybody reads, until nothing happens any more. */
  async rest(): Promise<void> {
    const { world } = this;
    for (const session of world.sessions.values()) session.mode = "ok";
    for (const feed of world.feeds.values()) feed.mode = "ok";
    const each = async (): Promise<void> => {
      await world.allArrive();
      for (const socket of world.sockets.values()) {
        if (socket.closed === undefined && !socket.isBroken) world.read(socket);
      }
    };
    await each();
    for (let round = 0; round < 40 && (round < 4 || world.alarmAt < Infinity); round += 1) {
      await world.pass(30_000, each);
    }
  }

  owedTo(name: string): Owed {
    const found = this.#owed.get(name) ?? new Owed();
    this.#owed.set(name, found);
    return found;
  }

  /** A listener is owed what it was promised, for as long as its socket is open. */
  #settle(id: string): void {
    const socket = this.world.sockets.get(id);
    const owed = this.owedTo(id);
    if (socket === undefined || socket.closed !== undefined || socket.isBroken) owed.clear();
    else {
      for (const [slug, topics] of Object.entries(socket.honoured ?? {})) {
        for (const topic of topics) owed.settled.add(`${slug} ${topic}`);
      }
    }
  }

  /** What went wrong. */
  verdict(): readonly string[] {
    const { world, published } = this;
    const found = [...this.violations, ...world.failures.map(String)];
    for (const name of SESSIONS) {
      const received = world.session(name).taken;
      for (const missing of this.owedTo(name).missing(received))
        found.push(`${name} missed ${missing}`);
      for (const twice of repeated(received, published)) found.push(`${name} twice: ${twice}`);
    }
    for (const id of LISTENERS) {
      const received = world.sockets.get(id)?.news ?? [];
      for (const missing of this.owedTo(id).missing(received))
        found.push(`${id} missed ${missing}`);
      for (const twice of repeated(received, published)) found.push(`${id} twice: ${twice}`);
    }
    for (const name of SLUGS) {
      for (const who of [...SESSIONS, ...LISTENERS]) {
        for (const key of this.owedTo(who).settled) {
          const [slug = "", topic = ""] = key.split(" ");
          if (slug === name && !world.feed(name).watched.has(topic as Topic)) {
            found.push(`the feed of ${name} does not watch ${topic} for ${who}`);
          }
        }
      }
    }
    return found;
  }
}
