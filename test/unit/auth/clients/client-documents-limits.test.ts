/** The limits on loads of metadata documents, and on how many are kept. */

import { afterEach, describe, test, vi } from "vitest";

import { DAY, documentAt, HOUR, MINUTE, withDocuments, word } from "./documents-fixture.ts";

const HOST = "a.client.example";
const ID = `https://${HOST}/client.json`;
const CLAUDE = "https://claude.ai/oauth/mcp-oauth-client-metadata";

const id = (n: number, host = HOST): string => `https://${host}/${n}.json`;

afterEach(() => {
  vi.useRealTimers();
});

describe("limits", () => {
  test("B56: a host that does not answer is waited for ten seconds", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await withDocuments(async (at) => {
      at.play = (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason as Error));
        });
      const outcome = at.load(ID);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(word(await outcome)).toBe("timeout");
    });
  });

  test("a host is asked ten times in a minute, and another one as often", async ({ expect }) => {
    await withDocuments(async (at) => {
      at.serve();
      for (let n = 0; n < 10; n++) expect(word(await at.load(id(n)))).toBe("fresh");
      expect(await at.load(id(10))).toEqual({ kind: "busy", retryAfterSeconds: 60 });
      expect(word(await at.load(id(0)))).toBe("fresh");
      expect(word(await at.load(id(10, "b.client.example")))).toBe("fresh");
      expect(at.hits.length).toBe(11);
      at.now += 6000;
      expect(word(await at.load(id(10)))).toBe("fresh");
      expect(word(await at.load(id(11)))).toBe("busy");
      expect(at.rows()).not.toContain(id(11));
    });
  });

  test("an address has three of them, and the others have the rest", async ({ expect }) => {
    await withDocuments(async (at) => {
      at.serve();
      const one = { address: "one" };
      for (let n = 0; n < 3; n++) expect(word(await at.load(id(n), one))).toBe("fresh");
      for (let n = 3; n < 30; n++) expect(word(await at.load(id(n), one))).toBe("busy");
      expect(word(await at.load(id(3, "b.client.example"), one))).toBe("fresh");
      expect(word(await at.load(id(3), { address: "other" }))).toBe("fresh");
      for (let n = 4; n < 10; n++) expect(word(await at.load(id(n)))).toBe("fresh");
      expect(word(await at.load(id(10), { address: "other" }))).toBe("busy");
      at.now += 20_000;
      expect(word(await at.load(id(10), one))).toBe("fresh");
    });
  });

  test.for([
    ["four addresses", 4, 3],
    ["ten addresses, one each", 10, 1],
    ["ten addresses, as many as they get", 10, 10],
  ] as const)(
    "a new address is served beside the documents of strangers: %s",
    async (strangers, { expect }) => {
      const [, addresses, each] = strangers;
      await withDocuments(async (at) => {
        at.serveStatus(404);
        for (let n = 0; n < addresses * each; n++) {
          await at.load(id(n), { address: `stranger-${n % addresses}` });
        }
        at.serve();
        expect(word(await at.load(ID, { address: "honest" }))).toBe("fresh");
        // The reserve for new addresses has the same limit: one document in a minute.
        expect(word(await at.load(id(1000), { address: "honest" }))).toBe("busy");
      });
    },
  );

  test("the loads that are reserved for new addresses have a limit too", async ({ expect }) => {
    await withDocuments(async (at) => {
      at.serve();
      for (let n = 0; n < 30; n++) await at.load(id(n), { address: `stranger-${n}` });
      expect(at.hits.length).toBe(20);
    });
  });

  test("a document that is kept is loaded anew, whatever else its host is asked", async ({
    expect,
  }) => {
    await withDocuments(async (at) => {
      at.serve();
      await at.load(id(0));
      at.now += HOUR;
      for (let n = 1; n <= 10; n++) await at.load(id(n));
      const caller = { mayLoad: () => false };
      expect(word(await at.load(id(0), caller))).toBe("fresh");
      expect(at.hits.length).toBe(12);
      at.now += 5 * MINUTE - 1;
      await at.load(id(0), caller);
      expect(at.hits.length).toBe(12);
    });
  });

  test("a later request gets the kept document, and no unknown one is loaded", async ({
    expect,
  }) => {
    await withDocuments(async (at) => {
      at.serve();
      expect(word(await at.documents.find(ID))).toBe("busy");
      expect(word(await at.documents.find(CLAUDE))).toBe("stale");
      expect(word(await at.documents.find("https://127.0.0.1/x"))).toBe("refused");
      expect([at.hits, at.rows()]).toEqual([[], []]);
      await at.load(ID);
      expect(word(await at.documents.find(ID))).toBe("fresh");
      at.now += HOUR;
      expect(word(await at.documents.find(ID))).toBe("fresh");
      expect(at.hits).toEqual([ID, ID]);
    });
  });

  test("a well-known client comes in while strangers use up its host", async ({ expect }) => {
    await withDocuments(async (at) => {
      at.serveStatus(404);
      for (let n = 0; n < 11; n++) await at.load(id(n, "claude.ai"));
      expect(word(await at.load(CLAUDE))).toBe("stale");
      expect(word(await at.load(id(12, "claude.ai")))).toBe("busy");
    });
  });

  test("a well-known client that is gone stays gone while its host may not be asked", async ({
    expect,
  }) => {
    await withDocuments(async (at) => {
      at.serveStatus(404);
      await at.load(CLAUDE);
      at.now += MINUTE;
      for (let n = 0; n < 10; n++) await at.load(id(n, "claude.ai"));
      expect(word(await at.load(CLAUDE))).toBe("busy");
    });
  });

  test("a caller is asked about before the network, and about nothing else", async ({ expect }) => {
    await withDocuments(async (at) => {
      at.serve();
      let asked = 0;
      const refuse = {
        mayLoad: () => {
          asked += 1;
          return Promise.resolve(false);
        },
      };
      expect(await at.load(ID, refuse)).toEqual({ kind: "busy", retryAfterSeconds: 60 });
      expect([asked, at.hits, at.rows()]).toEqual([1, [], []]);
      expect(word(await at.load(ID, { mayLoad: () => true }))).toBe("fresh");
      expect(word(await at.load(ID, refuse))).toBe("fresh");
      expect(word(await at.load("https://127.0.0.1/x", refuse))).toBe("refused");
      expect(asked).toBe(1);
      expect(word(await at.load(CLAUDE, refuse))).toBe("stale");
      expect([asked, at.hits.length]).toEqual([2, 1]);
    });
  });

  test("callers that are asked about at once make one load", async ({ expect }) => {
    await withDocuments(async (at) => {
      at.serve();
      const loads = [1, 2, 3].map(() => at.load(ID, { mayLoad: () => Promise.resolve(true) }));
      expect((await Promise.all(loads)).map(word)).toEqual(["fresh", "fresh", "fresh"]);
      expect(at.hits.length).toBe(1);
    });
  });

  test("a request that waits for a load under way is not counted", async ({ expect }) => {
    await withDocuments(async (at) => {
      const { promise, resolve } = Promise.withResolvers<Response>();
      at.play = () => promise;
      const first = at.load(ID);
      const second = at.load(ID, { mayLoad: () => false });
      resolve(Response.json(documentAt(ID)));
      expect([await first, await second].map(word)).toEqual(["fresh", "fresh"]);
    });
  });
});

describe("sweep()", () => {
  test("deletes failures when they are over, and documents when they cannot stand in", async ({
    expect,
  }) => {
    await withDocuments(async (at) => {
      const failing = `${ID}2`;
      at.serve();
      await at.load(ID);
      at.serveStatus(500);
      await at.load(failing);
      const sweptAfter = (ms: number) => {
        at.now += ms;
        at.documents.sweep();
        return at.rows();
      };
      expect(sweptAfter(MINUTE - 1)).toEqual([ID, failing]);
      expect(sweptAfter(1)).toEqual([ID]);
      expect(sweptAfter(7 * DAY - MINUTE - 1)).toEqual([ID]);
      expect(sweptAfter(1)).toEqual([]);
    });
  });

  test("keeps five thousand at the most, and of those that are there longest", async ({
    expect,
  }) => {
    await withDocuments(async (at) => {
      at.serve();
      await at.load(ID);
      at.fill(5000, at.now + MINUTE);
      at.documents.sweep();
      expect(at.rows().length).toBe(5000);
      expect(at.rows()).toContain(ID);
    });
  });
});
