/** The stand-in for a metadata document that cannot be loaded. */

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

const ID = "https://a.client.example/client.json";
const CLAUDE = "https://claude.ai/oauth/mcp-oauth-client-metadata";

describe("a document that cannot be loaded again", () => {
  test.for([
    ["unreachable", 0],
    ["status", 503],
    ["status", 403],
    ["status", 429],
    ["redirect", 302],
  ] as const)("serves for seven days when it is %s (%i)", async ([why, status], { expect }) => {
    await withDocuments(async (at) => {
      at.serve();
      const first = await at.load(ID);
      const loadedAt = at.now;
      at.play = () => {
        if (status === 0) throw new Error("down");
        return Response.json({}, { status });
      };
      for (const after of [HOUR, DAY, 7 * DAY - 1]) {
        at.now = loadedAt + after;
        expect(await at.again().load(ID)).toEqual({ ...first, isStale: true });
      }
      expect(at.hits.length).toBe(4);
      at.now += 1;
      expect(word(await at.load(ID))).toBe(why);
      at.now += MINUTE;
      expect(word(await at.load(ID))).toBe(why);
    });
  });

  test("is asked for once in a minute, and is fresh when it is back", async ({ expect }) => {
    await withDocuments(async (at) => {
      at.serve();
      await at.load(ID);
      at.now += HOUR;
      at.serveStatus(503);
      for (let n = 0; n < 10; n++) expect(word(await at.load(ID))).toBe("stale");
      expect(at.hits.length).toBe(2);
      at.now += MINUTE;
      at.serve({ client_name: "Back" });
      const back = await at.load(ID);
      expect([word(back), name(back), at.hits.length]).toEqual(["fresh", "Back", 3]);
    });
  });

  test.for([404, 410])(
    "that is gone (%i) is gone at once, and for good",
    async (status, { expect }) => {
      await withDocuments(async (at) => {
        at.serve();
        await at.load(ID);
        at.now += HOUR;
        at.serveStatus(status);
        expect(word(await at.load(ID))).toBe("gone");
        at.now += MINUTE;
        at.serveStatus(503);
        expect(word(await at.load(ID))).toBe("status");
      });
    },
  );

  test("that has become another client's is refused at once", async ({ expect }) => {
    await withDocuments(async (at) => {
      at.serve();
      await at.load(ID);
      at.now += HOUR;
      at.play = () => Response.json(documentAt(`${ID}2`));
      expect(word(await at.load(ID))).toBe("other-client-id");
    });
  });
});

describe("the document of a well-known client", () => {
  test("is its copy while it is not available, and the document is requested all the same", async ({
    expect,
  }) => {
    await withDocuments(async (at) => {
      at.serveStatus(403);
      const outcome = await at.load(CLAUDE);
      expect(outcome).toMatchObject({
        kind: "client",
        client: { clientId: CLAUDE, redirectUris: ["https://claude.ai/api/mcp/auth_callback"] },
        host: "claude.ai",
        isStale: true,
      });
      expect(await at.load(CLAUDE)).toEqual(outcome);
      expect(at.hits).toEqual([CLAUDE]);
      at.now += MINUTE;
      at.serve({ client_name: "Claude, later" });
      const served = await at.load(CLAUDE);
      expect([word(served), name(served)]).toEqual(["fresh", "Claude, later"]);
    });
  });

  test("is what was served last, as long as that may stand in", async ({ expect }) => {
    await withDocuments(async (at) => {
      at.serve({ client_name: "Claude, later" });
      await at.load(CLAUDE);
      at.serveStatus(403);
      at.now += 7 * DAY - 1;
      expect(name(await at.load(CLAUDE))).toBe("Claude, later");
      at.now += MINUTE;
      const copy = await at.load(CLAUDE);
      expect([word(copy), name(copy)]).toEqual(["stale", "Claude"]);
    });
  });

  test.for(["gone", "other-client-id"])(
    "is no copy when its server answers %s",
    async (why, { expect }) => {
      await withDocuments(async (at) => {
        at.play = () =>
          why === "gone" ? Response.json({}, { status: 404 }) : Response.json(documentAt(ID));
        expect(word(await at.load(CLAUDE))).toBe(why);
      });
    },
  );

  test("has the digest of the served document, when that has the same content", async ({
    expect,
  }) => {
    await withDocuments(async (at) => {
      at.serveStatus(403);
      const copy = await at.load(CLAUDE);
      at.now += MINUTE;
      at.serve({
        client_name: "Claude",
        redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
      });
      expect(digest(await at.load(CLAUDE))).toBe(digest(copy));
    });
  });
});
