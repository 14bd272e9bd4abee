/** Rows of an earlier version, which hold the value itself where this one writes JSON. */

import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { describe, test } from "vitest";

import { Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { objectOf } from "../session-object.ts";
import { Upstream } from "../upstream.ts";

describe("the row of a session", () => {
  test.for(["JSON", "a value"])("is read where it is %s", async (form, { expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const before = await upstream.sessions();
    await runInDurableObject(await objectOf(session), (_instance, { storage }) => {
      const row = storage.kv.get("session");
      expect(typeof row).toBe("string");
      if (form === "a value") storage.kv.put("session", JSON.parse(String(row)));
    });
    await abortAllDurableObjects();
    expect((await responseIn(await session.callTool())).error).toBeUndefined();
    // The session at the server goes on: the row names it.
    expect(await upstream.sessions()).toEqual(before);
  });
});
