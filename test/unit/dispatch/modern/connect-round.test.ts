/** The round in which a client's person connects an account: how long the repeated call is held, and when not. */

import { describe, test } from "vitest";

import { awaitAccount } from "../../../../src/dispatch/modern/connect-round.ts";
import { clientKind } from "../../../../src/endpoint/client-kind.ts";
import type { RequestContext } from "../../../../src/relay/modern-context.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";
import { fakeCredentials } from "../../upstream/fake-credentials.ts";

const MINUTE = 60_000;

function round(action: string | undefined) {
  const waits: number[] = [];
  const held = Promise.withResolvers<void>();
  const credentials = {
    ...fakeCredentials(),
    connected: (ms: number) => {
      waits.push(ms);
      return held.promise;
    },
  };
  const base = fakeServer("notes");
  const server = { ...base, target: { ...base.target, credentials } };
  const leaving = new AbortController();
  const client = clientKind("2026-07-28", { elicitation: { url: {} } });
  const context = { client, signal: leaving.signal } as unknown as RequestContext;
  const inputResponses = action === undefined ? {} : { connect: { action } };
  const call = { method: "tools/call", params: { name: "t", inputResponses } };
  const begin = (ageMs = 0) => awaitAccount(context, server, call, { askedAt: Date.now() - ageMs });
  return { begin, waits, end: held.resolve, leave: () => leaving.abort("left") };
}

describe("U54 a call that is repeated after its person was asked", () => {
  test.for(["accept", undefined])("is held for 45 s at most: %s", async (action, { expect }) => {
    const { begin, waits, end } = round(action);
    const held = begin();
    expect(waits).toEqual([45_000]);
    end();
    // It goes on, connected or not: then the person is asked anew.
    expect(await held).toBeUndefined();
  });

  test.for(["decline", "cancel"])("is an error at once: %s", async (action, { expect }) => {
    const { begin, waits } = round(action);
    expect(await begin()).toMatchObject({ result: { isError: true } });
    expect(waits).toEqual([]);
  });

  test("is not held eleven minutes later, so that its person is asked anew", async ({ expect }) => {
    const { begin, waits } = round("decline");
    expect(await begin(11 * MINUTE)).toBeUndefined();
    expect(waits).toEqual([]);
  });

  test("ends with its caller", async ({ expect }) => {
    const { begin, leave } = round("accept");
    const held = begin();
    leave();
    await expect(held).rejects.toBe("left");
  });
});
