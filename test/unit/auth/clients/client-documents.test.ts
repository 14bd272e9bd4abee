/** When a metadata document is loaded, how long it serves, and which documents are no client. */

import { describe, test } from "vitest";

import {
  DAY,
  digest,
  documentAt,
  HOUR,
  MINUTE,
  name,
  withDocuments,
  word,
} from "./documents-fixture.ts";

const HOST = "a.client.example";
const ID = `https://${HOST}/client.json`;
const CLAUDE = "https://claude.ai/oauth/mcp-oauth-client-metadata";

describe("a document", () => {
  test("B51: is a client with its host and digest, and is loaded once in an hour", async ({
    expect,
  }) => {
    await withDocuments(async (at) => {
      at.serve();
      const first = await at.load(ID);
      expect(first).toEqual({
        kind: "client",
        client: expect.objectContaining({ clientId: ID, redirectUris: [`https://${HOST}/cb`] }),
        digest: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
        host: HOST,
        isStale: false,
      });
      at.now += HOUR - 1;
      expect(await at.load(ID)).toEqual(first);
      expect(at.hits).toEqual([ID]);
      at.now += 1;
      expect(await at.load(ID)).toEqual(first);
      expect(at.hits).toEqual([ID, ID]);
    });
  });

  test("is kept beyond the life of the object", async ({ expect }) => {
    await withDocuments(async (at) => {
      at.serve();
      const first = await at.load(ID);
      at.again();
      expect(await at.load(ID)).toEqual(first);
      expect(at.hits.length).toBe(1);
    });
  });

  test.for([
    ["", HOUR],
    ["public", HOUR],
    ["max-age=1800", 30 * MINUTE],
    ['public, MAX-AGE="1800"', 30 * MINUTE],
    ["max-age=60, s-maxage=1800", 30 * MINUTE],
    ["max-age=0", 5 * MINUTE],
    ["max-age=1", 5 * MINUTE],
    ["no-store", 5 * MINUTE],
    ["no-cache, max-age=9999", 5 * MINUTE],
    ["private, max-age=9999", 5 * MINUTE],
    ["max-age=86401", DAY],
    ["max-age=99999999999999999999999", DAY],
    ["max-age=soon", HOUR],
    ["x-max-age=1800", HOUR],
  ] as const)("of Cache-Control: %s serves %i ms", async ([header, ms], { expect }) => {
    await withDocuments(async (at) => {
      at.serve({}, header === "" ? {} : { "Cache-Control": header });
      await at.load(ID);
      at.now += ms - 1;
      await at.load(ID);
      expect(at.hits.length).toBe(1);
      at.now += 1;
      await at.load(ID);
      expect(at.hits.length).toBe(2);
    });
  });

  test("B58: that has changed has another digest once it is loaded again", async ({ expect }) => {
    await withDocuments(async (at) => {
      at.serve();
      const before = await at.load(ID);
      at.serve({ redirect_uris: ["https://b.client.example/cb"] });
      expect(digest(await at.load(ID))).toBe(digest(before));
      at.now += HOUR;
      const after = await at.load(ID);
      expect(word(after)).toBe("fresh");
      expect(digest(after)).not.toBe(digest(before));
    });
  });

  test("is loaded once for all who wait for it", async ({ expect }) => {
    await withDocuments(async (at) => {
      const { promise, resolve } = Promise.withResolvers<Response>();
      at.play = () => promise;
      const waiting = [1, 2, 3].map(() => at.load(ID));
      const other = at.load(`${ID}2`);
      resolve(Response.json(documentAt(ID)));
      const outcomes = await Promise.all(waiting);
      expect(outcomes.map(word)).toEqual(["fresh", "fresh", "fresh"]);
      await other;
      expect(at.hits).toEqual([ID, `${ID}2`]);
      at.now += HOUR;
      at.serve({ client_name: "Later" });
      expect(name(await at.load(ID))).toBe("Later");
    });
  });
});

describe("refused documents", () => {
  test.for([
    [`http://${HOST}/x`, "bad-url"],
    [`https://${HOST}/`, "bad-url"],
    [`https://${HOST}/a/../ok.json`, "bad-url"],
    [`https://${HOST}/ok.json#f`, "bad-url"],
    [`https://${HOST}/ok.json?x`, "bad-url"],
    [`https://u@${HOST}/x`, "bad-url"],
    [`https://A.client.example/x`, "bad-url"],
    [`https://2130706433/x`, "bad-url"],
    [`https://${HOST}/x\n[ERROR] forged`, "bad-url"],
    ["", "bad-url"],
    [`https://${HOST}:8443/x`, "refused"],
    ["https://127.0.0.1/x", "refused"],
    ["https://[::1]/x", "refused"],
    ["https://localhost/x", "refused"],
    ["https://gateway.example/x", "refused"],
  ])("B54: %s is %s, and nothing is asked or kept", async ([id = "", why], { expect }) => {
    await withDocuments(async (at) => {
      at.serve();
      const outcome = await at.load(id, { mayLoad: () => true });
      expect(outcome).toMatchObject({ kind: "refused", reason: why });
      expect([at.hits, at.rows()]).toEqual([[], []]);
    });
  });

  test("clients of hosts that are not accepted, known ones too, and nothing is asked", async ({
    expect,
  }) => {
    const acceptedHosts = new Set(["b.client.example"]);
    await withDocuments(
      async (at) => {
        at.serve();
        expect(await at.load(ID)).toEqual({
          kind: "refused",
          reason: "not-accepted",
          sentence: "Clients of this host are not accepted here.",
          isPassing: false,
        });
        expect(word(await at.load(CLAUDE))).toBe("not-accepted");
        expect(at.hits).toEqual([]);
        expect(word(await at.load("https://b.client.example/x"))).toBe("fresh");
      },
      { acceptedHosts },
    );
  });

  const answers: readonly (readonly [string, () => Response])[] = [
    ["other-client-id", () => Response.json(documentAt(`${ID}2`))],
    ["no-redirect-uris", () => Response.json(documentAt(ID, { redirect_uris: [] }))],
    ["has-secret", () => Response.json(documentAt(ID, { client_secret: "s" }))],
    ["gone", () => new Response("not found", { status: 404 })],
    ["status", () => Response.json({}, { status: 500 })],
    ["malformed", () => new Response("{", { headers: { "Content-Type": "application/json" } })],
    ["too-large", () => Response.json(documentAt(ID, { x: "x".repeat(5 * 1024) }))],
    ["media-type", () => new Response(JSON.stringify(documentAt(ID)))],
    [
      "redirect",
      () =>
        new Response(null, { status: 302, headers: { Location: "https://b.client.example/x" } }),
    ],
    [
      "unreachable",
      () => {
        throw new Error("no route to 10.0.0.7");
      },
    ],
  ];
  test.for(answers)(
    "B52, B53, B55: %s, in the same words as all of these",
    async ([why, answer], { expect }) => {
      await withDocuments(async (at) => {
        at.play = answer;
        expect(await at.load(ID)).toEqual({
          kind: "refused",
          reason: why,
          sentence: "The metadata document of the client could not be loaded.",
          isPassing: ["status", "media-type", "redirect", "unreachable"].includes(why),
        });
        expect(at.hits).toEqual([ID]);
      });
    },
  );

  test("a document of just the limit is taken", async ({ expect }) => {
    await withDocuments(async (at) => {
      const room = 5 * 1024 - JSON.stringify(documentAt(ID, { x: "" })).length;
      at.serve({ x: "x".repeat(room) });
      expect(word(await at.load(ID))).toBe("fresh");
      at.serve({ x: "x".repeat(room + 1) });
      at.now += HOUR;
      expect(word(await at.load(ID))).toBe("too-large");
    });
  });

  test.for(answers)("B56: %s is asked for once in a minute", async ([why, answer], { expect }) => {
    await withDocuments(async (at) => {
      at.play = answer;
      for (let n = 0; n < 10; n++) expect(word(await at.load(ID))).toBe(why);
      at.now += MINUTE - 1;
      expect(word(await at.again().load(ID))).toBe(why);
      expect(at.hits.length).toBe(1);
      at.now += 1;
      at.serve();
      expect(word(await at.load(ID))).toBe("fresh");
      expect(at.hits.length).toBe(2);
    });
  });
});
