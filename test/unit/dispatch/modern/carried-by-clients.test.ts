/** Values that a client carries for the gateway: no other client can use them, and each has one purpose. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { readState, sealState, withState } from "../../../../src/dispatch/modern/request-state.ts";
import {
  BEGINNING,
  openServerCursor,
  sealServerCursor,
} from "../../../../src/catalog/lists/list-cursors.ts";
import { toBase64Url } from "../../../../src/lib/base64url.ts";
import { SessionKeys } from "../../../../src/endpoint/keyring.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

const keysOf = (byte: number): SessionKeys =>
  new SessionKeys(() => Promise.resolve([toBase64Url(new Uint8Array(32).fill(byte))]));

const HOLDER = {
  ...{ keys: keysOf(1), principal: "me", route: "/mcp" },
  endpoint: { servers: [fakeServer("a")], isMerged: true, keepsNames: false } as const,
};
const OTHERS = [
  { ...HOLDER, principal: "you" },
  { ...HOLDER, principal: "" },
  { ...HOLDER, route: "/mcp/a" },
  { ...HOLDER, keys: keysOf(2) },
];
const METHOD = "tools/call";

async function sealed(state: unknown, slug = "a"): Promise<unknown> {
  const result = { resultType: "input_required", requestState: state };
  return (await sealState(HOLDER, slug, METHOD, result))["requestState"];
}

describe("the request state of a server", () => {
  test("comes back as it was, whatever it is", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), fc.string(), async (state, slug) => {
        const call = { method: METHOD, params: { n: 1, requestState: await sealed(state, slug) } };
        const reading = await readState(HOLDER, call);
        expect(reading).toEqual({ kind: "state", slug, state });
        expect(withState(call, reading)).toEqual({
          ...{ method: METHOD, params: { n: 1, requestState: state } },
        });
      }),
      { numRuns: 50 },
    );
  });

  test("is rejected for another client, and for another method", async ({ expect }) => {
    const params = { requestState: await sealed("mine") };
    for (const other of OTHERS) {
      expect(await readState(other, { method: METHOD, params })).toEqual({ kind: "foreign" });
    }
    expect(await readState(HOLDER, { method: "prompts/get", params })).toEqual({ kind: "foreign" });
    expect(await readState(HOLDER, { method: METHOD, params })).toMatchObject({ state: "mine" });
  });

  test("is none where there is none", async ({ expect }) => {
    for (const call of [{ method: METHOD }, { method: METHOD, params: { name: "x" } }]) {
      const reading = await readState(HOLDER, call);
      expect(reading).toEqual({ kind: "none" });
      expect(withState(call, reading)).toEqual(call);
    }
    const result = { resultType: "input_required", inputRequests: {} };
    expect(await sealState(HOLDER, "a", METHOD, result)).toEqual(result);
  });

  test.for([null, 7, {}])("that is %j, and no text, is left out", async (state, { expect }) => {
    expect(await sealed(state)).toBeUndefined();
  });

  test("is always there when it names the server of a resource", async ({ expect }) => {
    const method = "resources/read";
    const asked = { resultType: "input_required", inputRequests: {} };
    const { requestState, ...rest } = await sealState(HOLDER, "a", method, asked);
    expect(rest).toEqual(asked);
    const answer = { uri: "a://b", inputResponses: {} };
    const call = { method, params: { ...answer, requestState } };
    const reading = await readState(HOLDER, call);
    expect(reading).toEqual({ kind: "state", slug: "a" });
    expect(withState(call, reading)).toEqual({ method, params: answer });
    const unled = await readState(HOLDER, { method, params: answer });
    expect(unled).toEqual({ kind: "unasked" });
    expect(withState({ method, params: answer }, unled).params).not.toHaveProperty(
      "inputResponses",
    );

    const alone = { ...HOLDER, endpoint: { ...HOLDER.endpoint, isMerged: false } };
    expect(await sealState(alone, "a", method, asked)).toEqual(asked);
    expect(await readState(alone, { method, params: answer })).toEqual({ kind: "none" });
  });

  test("is no cursor, and a cursor is no state", async ({ expect }) => {
    const cursor = await sealServerCursor(HOLDER, "a", "tools", { pages: 1, cursor: "next" });
    const call = { method: METHOD, params: { requestState: cursor } };
    expect(await readState(HOLDER, call)).toEqual({ kind: "foreign" });
    expect(await openServerCursor(HOLDER, "a", "tools", await sealed("mine"))).toBeUndefined();
  });
});

describe("the cursor of a server", () => {
  test("comes back as it was, the empty one too", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), fc.nat(), async (cursor, pages) => {
        const token = await sealServerCursor(HOLDER, "a", "prompts", { pages, cursor });
        expect(await openServerCursor(HOLDER, "a", "prompts", token)).toEqual({ pages, cursor });
      }),
      { numRuns: 50 },
    );
  });

  test("is rejected for another client, another list and another server", async ({ expect }) => {
    const token = await sealServerCursor(HOLDER, "a", "tools", { pages: 1, cursor: "next" });
    for (const other of OTHERS)
      expect(await openServerCursor(other, "a", "tools", token)).toBeUndefined();
    expect(await openServerCursor(HOLDER, "b", "tools", token)).toBeUndefined();
    expect(await openServerCursor(HOLDER, "a", "prompts", token)).toBeUndefined();
    for (const text of ["", "next", `${token}A`, token.slice(0, -1), 7, null, {}]) {
      expect(await openServerCursor(HOLDER, "a", "tools", text)).toBeUndefined();
    }
    const beginning = await sealServerCursor(HOLDER, "a", "tools", BEGINNING);
    expect(await openServerCursor(HOLDER, "a", "tools", beginning)).toBeUndefined();
  });
});
