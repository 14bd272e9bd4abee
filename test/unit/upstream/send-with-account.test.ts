/** Requests to a server that knows its callers by an account: what they carry, and what a refusal does. */

import { afterEach, describe, test, vi } from "vitest";

import { send } from "../../../src/upstream/http.ts";
import { accountNeedOf, failureReply } from "../../../src/upstream/upstream-error.ts";
import { CONNECT, fakeCredentials, tokenOf } from "./fake-credentials.ts";
import { type Answer, failureOf, fakeTarget, json, type Seen } from "./fake-target.ts";

const { signal } = new AbortController();
const METHODS = ["POST", "GET", "DELETE"] as const;

afterEach(() => vi.restoreAllMocks());

/** A server that takes one token, and all requests that it gets. */
function server(takes: () => string, answer: Answer = () => json({ ok: 1 })) {
  const seen: Seen[] = [];
  const credentials = fakeCredentials();
  const target = fakeTarget(
    (request) => {
      seen.push(request);
      const isKnown = request.headers.get("authorization") === takes();
      return isKnown
        ? answer(request)
        : new Response("SECRET-BODY", { status: 401, headers: CHALLENGE });
    },
    { credentials },
  );
  return { target, seen, credentials };
}

const moved = (): Response =>
  new Response(null, { status: 307, headers: { Location: "http://other.test/" } });

const forbids =
  (headers: Record<string, string>): Answer =>
  () =>
    new Response("no", { status: 403, headers });

const CHALLENGE = {
  "WWW-Authenticate": 'Basic realm="x", Bearer error="invalid_token", scope="r w"',
};

describe("U37 a request to a server with accounts", () => {
  test.for(METHODS)("carries the account's credential: %s", async (method, { expect }) => {
    const { target, seen } = server(() => tokenOf("a1", 1));
    const headers = { "Mcp-Session-Id": "s" };
    expect((await send(target, { method, headers, signal })).status).toBe(200);
    expect(seen.map((one) => one.headers.get("authorization"))).toEqual([tokenOf("a1", 1)]);
    expect(seen[0]?.headers.get("mcp-session-id")).toBe("s");
  });

  test("has the operator's headers, but no other Authorization", async ({ expect }) => {
    const { target, seen } = server(() => tokenOf("a1", 1));
    const own = { ...target, headers: { authorization: "Bearer operator", "X-Team": "t" } };
    await send(own, { method: "GET", headers: { AUTHORIZATION: "Bearer client" }, signal });
    expect(seen[0]?.headers.get("authorization")).toBe(tokenOf("a1", 1));
    expect(seen[0]?.headers.get("x-team")).toBe("t");
  });

  test("carries an API key in its own header, and no Authorization", async ({ expect }) => {
    const { target, seen, credentials } = server(() => "none");
    const key = { kind: "use", accountId: "k", generation: 1, header: "X-Api-Key", value: "k1" };
    const current = (): Promise<never> => Promise.resolve(key as never);
    const own = { ...target, credentials: { ...credentials, current } };
    await failureOf(
      send(
        { ...own, headers: { "x-api-key": "operator", Authorization: "Basic x" } },
        { method: "GET", headers: {}, signal },
      ),
    );
    expect(seen[0]?.headers.get("x-api-key")).toBe("k1");
    expect(seen[0]?.headers.has("authorization")).toBe(false);
  });

  test("U38 is never sent to another origin", async ({ expect }) => {
    const { target, seen } = server(() => tokenOf("a1", 1));
    const url = new URL("/mcp", "http://other.test");
    const request = { method: "POST", url, headers: {}, signal } as const;
    const failure = await failureOf(send(target, request));
    expect(failure).toMatchObject({ failure: "malformed" });
    expect(String(failure)).toContain('"fake"');
    expect(seen).toEqual([]);
  });

  test("U38 is not sent to another address than that of an account that has ended", async ({
    expect,
  }) => {
    const { target, seen } = server(() => tokenOf("a1", 1));
    const used = await target.credentials?.current();
    if (used?.kind !== "use") throw new Error("There is no credential");
    const end = (endpoint: string): Promise<Response> =>
      send(target, { method: "DELETE", headers: {}, last: { ...used, endpoint }, signal });
    const failure = await failureOf(end(new URL("/moved", target.endpoint).href));
    expect(failure).toMatchObject({ failure: "session-lost" });
    expect(seen).toEqual([]);
    expect((await end(target.endpoint.href)).status).toBe(200);
  });

  test("U38 does not follow a redirect", async ({ expect }) => {
    const { target } = server(() => tokenOf("a1", 1), moved);
    let redirect: unknown;
    const fetching: typeof target.fetch = (url, init) => {
      ({ redirect } = init);
      return target.fetch(url, init);
    };
    const response = await send(
      { ...target, fetch: fetching },
      { method: "POST", headers: {}, signal },
    );
    expect([redirect, response.status]).toEqual(["manual", 307]);
  });

  test("U75 gets the credential that there is when it is sent", async ({ expect }) => {
    const { target, seen, credentials } = server(() => tokenOf("a1", 2));
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    credentials.onCurrent = async () => {
      await opened;
    };
    const sent = send(target, { method: "POST", headers: {}, body: {}, signal });
    credentials.generation = 2;
    open();
    expect((await sent).status).toBe(200);
    expect(seen).toHaveLength(1);
  });

  test("is not sent without a credential", async ({ expect }) => {
    const { target, seen, credentials } = server(() => "");
    credentials.need = CONNECT;
    const failure = await failureOf(send(target, { method: "POST", headers: {}, signal }));
    expect(failure).toMatchObject({ failure: "account", need: CONNECT });
    expect(seen).toEqual([]);
  });

  test("is not sent while the vault cannot be asked", async ({ expect }) => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { target, seen, credentials } = server(() => "");
    credentials.onCurrent = () => Promise.reject(new Error("SECRET-REASON"));
    const failure = await failureOf(send(target, { method: "POST", headers: {}, signal }));
    expect(failure).toMatchObject({ failure: "account", need: { need: "later" } });
    expect(String(failure)).not.toContain("SECRET");
    expect(seen).toEqual([]);
  });
});

describe("a request whose credential the server refuses", () => {
  test.for(METHODS)("U42 is sent once more with a newer one: %s", async (method, { expect }) => {
    const { target, seen, credentials } = server(() => tokenOf("a1", 2));
    const body = { jsonrpc: "2.0", id: 7, method: "tools/call" };
    const request = { method, headers: {}, signal, ...(method === "POST" ? { body } : {}) };
    expect((await send(target, request)).status).toBe(200);
    expect(seen.map((one) => one.headers.get("authorization"))).toEqual([
      tokenOf("a1", 1),
      tokenOf("a1", 2),
    ]);
    expect(seen[1]?.body).toEqual(seen[0]?.body);
    expect(credentials.challenges).toEqual([{ error: "invalid_token", scope: "r w" }]);
  });

  test("U43 twice, is not sent a third time", async ({ expect }) => {
    const { target, seen, credentials } = server(() => "none of them");
    const failure = await failureOf(send(target, { method: "POST", headers: {}, signal }));
    expect(failure).toMatchObject({ failure: "account", need: { need: "later" } });
    expect(seen).toHaveLength(2);
    expect(credentials.asked).toEqual(["current", "refused", "refused"]);
  });

  test("U43 and not refreshed, is not sent again", async ({ expect }) => {
    const { target, seen, credentials } = server(() => "none of them");
    credentials.refreshes = false;
    const failure = await failureOf(send(target, { method: "POST", headers: {}, signal }));
    expect(failure).toMatchObject({ failure: "account", need: CONNECT });
    expect(seen).toHaveLength(1);
  });

  test("U44 ends with its caller, while the vault goes on", async ({ expect }) => {
    const { target, credentials } = server(() => "none of them");
    const leaving = new AbortController();
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    credentials.onCurrent = () => opened;
    const sent = send(target, { method: "POST", headers: {}, signal: leaving.signal });
    leaving.abort("left");
    expect(await failureOf(sent)).toBe("left");
    open();
  });
});

const LACKING = { "WWW-Authenticate": 'Bearer error="insufficient_scope", scope="w"' };

describe("a server that forbids something to the account", () => {
  test("U52 by its scopes, is not asked again", async ({ expect }) => {
    const { target, seen, credentials } = server(() => tokenOf("a1", 1), forbids(LACKING));
    const failure = await failureOf(send(target, { method: "POST", headers: {}, signal }));
    expect(failure).toMatchObject({ failure: "account", need: { need: "scope" } });
    expect(credentials.asked).toEqual(["current", "lacking"]);
    expect(credentials.challenges).toEqual([{ error: "insufficient_scope", scope: "w" }]);
    expect(seen).toHaveLength(1);
  });

  test("U52 and allows it to what the account has become since, is asked once more", async ({
    expect,
  }) => {
    const { target, seen, credentials } = server(
      () => tokenOf("a1", seen.length),
      () => {
        if (seen.length === 2) return json({ ok: 1 });
        credentials.generation = 2;
        return new Response("no", { status: 403, headers: LACKING });
      },
    );
    expect((await send(target, { method: "POST", headers: {}, signal })).status).toBe(200);
    expect(credentials.asked).toEqual(["current", "lacking"]);
    expect(seen).toHaveLength(2);
  });

  test("U52 twice, is not asked a third time", async ({ expect }) => {
    const { target, seen, credentials } = server(
      () => tokenOf("a1", seen.length),
      () => {
        credentials.generation += 1;
        return new Response("no", { status: 403, headers: LACKING });
      },
    );
    const failure = await failureOf(send(target, { method: "POST", headers: {}, signal }));
    expect(failure).toMatchObject({ failure: "account", need: { need: "later" } });
    expect(credentials.asked).toEqual(["current", "lacking", "lacking"]);
    expect(seen).toHaveLength(2);
  });

  test.for([
    {},
    { "WWW-Authenticate": 'Bearer error="invalid_token"' },
    { "WWW-Authenticate": 'Basic error="insufficient_scope"' },
  ])("U53 otherwise, is heard as it is: %o", async (headers, { expect }) => {
    const { target, credentials } = server(() => tokenOf("a1", 1), forbids(headers));
    expect((await send(target, { method: "POST", headers: {}, signal })).status).toBe(403);
    expect(credentials.asked).toEqual(["current"]);
  });
});

describe("the reply to a call without a usable account", () => {
  test("says so to the client, and what is needed to the gateway alone", async ({ expect }) => {
    const { target, credentials } = server(() => "");
    credentials.need = { ...CONNECT, ask: "h4ndle", accountId: "a1" };
    const failure = await failureOf(send(target, { method: "POST", headers: {}, signal }));
    const reply = failureReply(failure, "fake");
    expect(reply).toMatchObject({ error: { data: { upstream: "fake", reason: "account" } } });
    expect(JSON.stringify("error" in reply && reply.error)).not.toMatch(/h4ndle|a1/);
    // It crosses between objects as plain data.
    expect(accountNeedOf(JSON.parse(JSON.stringify(reply)))).toEqual(credentials.need);
  });

  test("cannot come from a server", ({ expect }) => {
    const data = { upstream: "fake", reason: "account", account: CONNECT };
    expect(accountNeedOf({ error: { code: -32603, message: "m", data } })).toBeUndefined();
  });
});
