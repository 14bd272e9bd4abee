/** A resource that no server lists: which servers are asked, waited for and cancelled. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { firstFound } from "../../../../src/catalog/routing/first-found.ts";
import { errorReply, type Reply } from "../../../../src/protocol/json-rpc.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

const SLUGS = ["a", "b", "c"] as const;
type Slug = (typeof SLUGS)[number];

const of = (slug: Slug): Reply => ({ result: { text: slug } });
const MISSING = errorReply(-32602, "no");
const KNOWING = errorReply(-32021, "not so");
const GONE = new Error("The client closed the stream");

class Search {
  readonly client = new AbortController();
  readonly signals = new Map<string, AbortSignal>();
  readonly #ends = new Map<string, (reply: Reply) => void>();
  readonly #kept: Promise<unknown>[] = [];
  /** Whose results were not taken. */
  readonly spared: unknown[] = [];
  readonly reply: Promise<Reply>;

  constructor(slugs: readonly Slug[] = SLUGS) {
    const ask = (slug: string, signal: AbortSignal): Promise<Reply> => {
      this.signals.set(slug, signal);
      return new Promise((resolve, reject) => {
        this.#ends.set(slug, resolve);
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      });
    };
    const servers = slugs.map((slug) => fakeServer(slug));
    this.reply = firstFound(servers, ({ slug }, signal) => ask(slug, signal), {
      ...{ uri: "a://b", era: "modern", signal: this.client.signal },
      waitUntil: (promise) => void this.#kept.push(promise),
      spare: async ({ slug }, { text }) => void this.spared.push([slug, text]),
    });
    this.reply.catch(() => undefined); // a test that wants it looks itself
  }

  end(slug: Slug, reply: Reply): void {
    this.#ends.get(slug)?.(reply);
  }

  /** All that was kept running has come to an end. */
  async over(): Promise<number> {
    await Promise.all(this.#kept);
    return this.#kept.length;
  }

  get aborted(): readonly string[] {
    return SLUGS.filter((slug) => this.signals.get(slug)?.aborted === true);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a resource that no server lists", () => {
  test("is requested from all servers at once", ({ expect }) => {
    expect([...new Search().signals.keys()]).toEqual(SLUGS);
  });

  test("comes from the first server in order if that answers soon", async ({ expect }) => {
    const search = new Search();
    search.end("b", of("b"));
    await vi.advanceTimersByTimeAsync(999);
    search.end("a", of("a"));
    expect(await search.reply).toEqual(of("a"));
    expect(search.aborted).toEqual(["c"]);
    expect(search.spared).toEqual([["b", "b"]]);
    expect(await search.over()).toBe(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("comes from the next server as soon as the earlier ones do not have it", async ({
    expect,
  }) => {
    const search = new Search();
    search.end("c", of("c"));
    search.end("b", of("b"));
    search.end("a", MISSING);
    expect(await search.reply).toEqual(of("b"));
  });

  test("comes from any server when the first ones stall", async ({ expect }) => {
    const search = new Search();
    search.end("c", of("c"));
    await vi.advanceTimersByTimeAsync(1000);
    expect(await search.reply).toEqual(of("c"));
    expect(search.aborted).toEqual(["a", "b"]);
    await search.over();
  });

  test("may be found late", async ({ expect }) => {
    const search = new Search();
    await vi.advanceTimersByTimeAsync(5000);
    search.end("b", of("b"));
    expect(await search.reply).toEqual(of("b"));
  });

  test("is not found once no server has it; an error of a server that knows it is returned", async ({
    expect,
  }) => {
    const [nowhere, known] = [new Search(), new Search()];
    known.end("c", errorReply(-1, "?"));
    known.end("b", KNOWING);
    nowhere.end("b", errorReply(-32603, "down", { upstream: "b", reason: "timeout" }));
    for (const slug of ["a", "c", "b"] as const) nowhere.end(slug, MISSING);
    known.end("a", MISSING);
    expect(await nowhere.reply).toMatchObject({ error: { data: { uri: "a://b" } } });
    expect(await known.reply).toEqual(KNOWING);
    expect(await new Search([]).reply).toHaveProperty("error");
  });

  test("is cancelled everywhere when the client leaves", async ({ expect }) => {
    const search = new Search();
    search.end("b", of("b"));
    await vi.advanceTimersByTimeAsync(0);
    search.client.abort(GONE);
    await expect(search.reply).rejects.toBe(GONE);
    expect(search.aborted).toEqual(SLUGS);
    expect(search.spared).toEqual([["b", "b"]]);
    await search.over();
  });
});
