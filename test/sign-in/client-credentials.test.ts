/** Programs that act in their own name: an administrator makes them, and they get tokens. */

import { describe, test } from "vitest";

import { token } from "../../src/auth/oauth/endpoints/token.ts";
import { newServiceClientId, type ServiceClient } from "../../src/auth/store/service-clients.ts";
import type { LoginStep } from "../../src/auth/trace/trace.ts";
import { REDIRECT_URI, type Tokens, tokensIn } from "../support/oauth-requests.ts";
import { ask, connect, type Form, newClient, refreshing, statusAndError } from "./codes.ts";
import { passTime, SECOND } from "./clock.ts";
import { gatewayWith, newContext } from "./context.ts";
import { ORIGIN } from "./gateway.ts";
import { newMaker, records } from "./people.ts";
import { Signer } from "./signing.ts";

const CREDENTIALS = { grant_type: "client_credentials" };
const REFUSED = [401, "invalid_client"];

type Options = Partial<Pick<ServiceClient, "scopes" | "resources" | "jwks">>;

async function newService(
  options: Options = {},
): Promise<{ readonly id: string; readonly secret: string; readonly form: Form }> {
  const id = newServiceClientId();
  const { secret = "" } = await records()
    .store.ofClient(id)
    .services.create({
      ...{ id, label: "Nightly", scopes: ["mcp:alpha"], resources: [`${ORIGIN}/mcp/alpha`] },
      ...{ maker: await newMaker(), ...options },
    });
  return { id, secret, form: { ...CREDENTIALS, client_id: id, client_secret: secret } };
}

function basic(id: string, secret: string): { readonly Authorization: string } {
  return { Authorization: `Basic ${btoa(`${id}:${secret}`)}` };
}

async function isGood({ access_token }: Tokens, id: string, path: string): Promise<boolean> {
  const { bearers } = records().store.ofUser(id);
  return (await bearers.check(ORIGIN, ORIGIN + path, access_token)) !== undefined;
}

describe("a service client", () => {
  test("B92: gets a token with its secret, in the header or in the body", async ({ expect }) => {
    const { id, secret, form } = await newService();
    for (const response of [await ask(form), await ask(CREDENTIALS, basic(id, secret))]) {
      expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
      const tokens = await tokensIn(response);
      expect(tokens).toEqual({
        access_token: expect.stringMatching(/^edgeway_cc_[a-z0-9]{16}_[A-Za-z0-9_-]{43}$/),
        ...{ token_type: "bearer", expires_in: 3600, scope: "mcp:alpha" },
        resource: `${ORIGIN}/mcp/alpha`,
      });
      expect(await isGood(tokens, id, "/mcp/alpha")).toBe(true);
      expect(await isGood(tokens, id, "/mcp")).toBe(false);
    }
  });

  test("B92: gets a token with its signature", async ({ expect }) => {
    const signer = await Signer.make();
    const { id } = await newService({ jwks: signer.jwks });
    for (const aud of [ORIGIN, `${ORIGIN}/`, `${ORIGIN}/token`]) {
      const form = { ...CREDENTIALS, ...(await signer.parameters(id, { aud })) };
      const tokens = await tokensIn(await ask(form));
      expect(await isGood(tokens, id, "/mcp/alpha")).toBe(true);
      expect(tokens).toMatchObject({
        access_token: expect.stringMatching(/^edgeway_cc_/),
        expires_in: 3600,
      });
      expect(tokens).not.toHaveProperty("refresh_token");
    }
  });

  test("gets no token when it is revoked at that moment", async ({ expect }) => {
    const { id, form } = await newService();
    const context = newContext();
    const { store } = context;
    const shard = store.ofUser(id);
    // Between its credentials and its token.
    const take = async (key: string, perMinute: number): Promise<number> => {
      await store.ofClient(id).services.remove(id);
      return shard.limits.take(key, perMinute);
    };
    const slow = { ...shard, limits: { take, countOfDay: shard.limits.countOfDay } };
    const body = new URLSearchParams(form as Record<string, string>);
    const request = new Request(`${ORIGIN}/token`, { method: "POST", body });
    const raced = { ...context, store: { ...store, ofUser: () => slow as typeof shard } };
    expect(await statusAndError(await token(raced, request))).toEqual(REFUSED);
    expect(await shard.keys.list(id)).toEqual([]);
  });

  test("loses its token after an hour, however long those of users last", async ({ expect }) => {
    const { id, form } = await newService();
    const { send } = gatewayWith({ limits: { accessTokenMinutes: 1440 } });
    const body = new URLSearchParams(form as Record<string, string>);
    const tokens = await tokensIn(await send(`${ORIGIN}/token`, { method: "POST", body }));
    expect(tokens.expires_in).toBe(3600);
    expect("refresh_token" in tokens).toBe(false);
    passTime(3601 * SECOND);
    expect(await isGood(tokens, id, "/mcp/alpha")).toBe(false);
  });

  test("that is disabled or removed gets no token, and loses those that it has", async ({
    expect,
  }) => {
    const { id, form } = await newService();
    const { store } = records();
    const tokens = await tokensIn(await ask(form));
    await store.ofClient(id).services.setDisabled(id, true);
    await store.ofUser(id).revokeEverything(id);
    expect(await statusAndError(await ask(form))).toEqual(REFUSED);
    expect(await isGood(tokens, id, "/mcp/alpha")).toBe(false);
    await store.ofClient(id).services.setDisabled(id, false);
    expect((await ask(form)).status).toBe(200);
    expect(await store.ofClient(id).services.remove(id)).toBe(true);
    expect(await statusAndError(await ask(form))).toEqual(REFUSED);
  });

  test("is recorded in the log of its actions", async ({ expect }) => {
    const { id, form } = await newService();
    await ask(form);
    const [entry] = await records().store.ofUser(id).audit.list(id);
    expect(entry).toMatchObject({
      event: "service_token_issued",
      detail: { label: "Nightly", resource: `${ORIGIN}/mcp/alpha` },
    });
  });

  test("gives back a token, and keeps the others (RFC 7009)", async ({ expect }) => {
    const { id, secret, form } = await newService();
    const [first, second, third] = [
      await tokensIn(await ask(form)),
      await tokensIn(await ask(form)),
      await tokensIn(await ask(form)),
    ];
    const inBody = await ask({ token: first.access_token, client_id: id, client_secret: secret });
    expect([inBody.status, inBody.headers.get("cache-control"), await inBody.text()]).toEqual([
      200,
      "no-store",
      "",
    ]);
    const hint = { token_type_hint: "access_token" };
    const inHeader = await ask({ token: second.access_token, ...hint }, basic(id, secret));
    expect(inHeader.status).toBe(200);
    const good = [first, second, third].map((tokens) => isGood(tokens, id, "/mcp/alpha"));
    expect(await Promise.all(good)).toEqual([false, false, true]);
    expect((await ask(form)).status).toBe(200);
    const events = (await records().store.ofUser(id).audit.list(id)).map(({ event }) => event);
    expect(events.filter((event) => event === "token_revoked")).toHaveLength(2);
  });

  test("gives back no token of another, and learns nothing of it", async ({ expect }) => {
    const { id, secret, form } = await newService();
    const other = await newService();
    const others = await tokensIn(await ask(other.form));
    const person = await connect();
    const own = await tokensIn(await ask(form));
    for (const token of [
      others.access_token,
      person.tokens.refresh_token,
      `${own.access_token.slice(0, -43)}${"x".repeat(43)}`,
      "bogus",
    ]) {
      const response = await ask({ token, client_id: id, client_secret: secret });
      expect([token, response.status, await response.text()]).toEqual([token, 200, ""]);
    }
    expect(await isGood(own, id, "/mcp/alpha")).toBe(true);
    expect(await isGood(others, other.id, "/mcp/alpha")).toBe(true);
    const refreshed = await ask(refreshing(person, person.tokens.refresh_token));
    expect(refreshed.status).toBe(200);
  });

  test("gives back no token without its secret", async ({ expect }) => {
    const { id, form } = await newService();
    const tokens = await tokensIn(await ask(form));
    for (const client_secret of [undefined, "wrong"]) {
      const response = await ask({ token: tokens.access_token, client_id: id, client_secret });
      expect(await statusAndError(response)).toEqual(REFUSED);
    }
    expect(await isGood(tokens, id, "/mcp/alpha")).toBe(true);
  });

  test("that requests a token each second has to wait", async ({ expect }) => {
    const { id, form } = await newService();
    const steps: LoginStep[] = [];
    const { send } = gatewayWith({ limits: { serviceTokensPerMinute: 2 }, steps });
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) {
      const body = new URLSearchParams(form as Record<string, string>);
      statuses.push((await send(`${ORIGIN}/token`, { method: "POST", body })).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
    // No sign-in provider has a part in this.
    expect(steps).toEqual([
      {
        ...{ kind: "token_refused", grantType: "client_credentials", client: id },
        ...{ error: "temporarily_unavailable", reason: "limited" },
      },
    ]);
  });
});

describe("B93: a client is refused for", () => {
  test("a wrong secret, none, two, or an unknown id", async ({ expect }) => {
    const { id, secret, form } = await newService();
    const wrong = await ask(CREDENTIALS, basic(id, "wrong"));
    expect(wrong.headers.get("www-authenticate")).toMatch(/^Basic /);
    expect(await statusAndError(wrong)).toEqual(REFUSED);
    for (const bad of [
      { ...form, client_secret: "wrong" },
      { ...form, client_secret: undefined },
      { ...form, client_id: newServiceClientId() },
      { ...form, client_id: "svc_" },
    ]) {
      expect(await statusAndError(await ask(bad))).toEqual(REFUSED);
    }
    const both = await ask({ ...CREDENTIALS, client_secret: secret }, basic(id, secret));
    expect(await statusAndError(both)).toEqual(REFUSED);
  });

  test("a wrong assertion", async ({ expect }) => {
    const signer = await Signer.make();
    const { id } = await newService({ jwks: signer.jwks });
    const statements = [
      await signer.parameters(id, { aud: "https://a.example" }),
      await signer.parameters(id, { lasts: -120 }),
      await signer.parameters(id, { lasts: 3600 }),
      await signer.parameters(id, { sub: "svc_other" }),
      await (await Signer.make()).parameters(id),
    ];
    for (const statement of statements) {
      expect(
        await statusAndError(await ask({ ...CREDENTIALS, client_id: id, ...statement })),
      ).toEqual(REFUSED);
    }
    // A client that signs has no secret, and one that has a secret does not sign.
    expect(
      await statusAndError(await ask({ ...CREDENTIALS, client_id: id, client_secret: "" })),
    ).toEqual(REFUSED);
    const { id: other, secret } = await newService();
    const signed = await signer.parameters(other);
    expect(await statusAndError(await ask({ ...CREDENTIALS, ...signed }))).toEqual(REFUSED);
    expect(
      await statusAndError(await ask({ ...CREDENTIALS, ...signed, client_secret: secret })),
    ).toEqual(REFUSED);
  });

  test("the same assertion twice at once", async ({ expect }) => {
    const signer = await Signer.make();
    const { id } = await newService({ jwks: signer.jwks });
    const form = { ...CREDENTIALS, ...(await signer.parameters(id)) };
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(form)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array<number>(7).fill(401)]);
  });

  test("another grant type than its own, once its secret is right", async ({ expect }) => {
    const { id, secret } = await newService();
    for (const grant_type of ["authorization_code", "refresh_token", "password", undefined]) {
      const form = { grant_type, client_id: id, code_verifier: "v".repeat(43) };
      const refusal = await ask({ ...form, client_secret: secret });
      expect(await statusAndError(refusal)).toEqual([400, "unauthorized_client"]);
      expect(await statusAndError(await ask({ ...form, client_secret: "x" }))).toEqual(REFUSED);
    }
  });

  test("an id that was registered dynamically", async ({ expect }) => {
    const { client_id, client_secret } = await newClient({
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: "client_secret_post",
    });
    const form = { ...CREDENTIALS, client_id, client_secret };
    expect(await statusAndError(await ask(form))).toEqual([400, "unauthorized_client"]);
    expect(await statusAndError(await ask({ ...form, client_secret: "x" }))).toEqual(REFUSED);
    expect(await statusAndError(await ask({ ...CREDENTIALS, client_id: "nobody" }))).toEqual(
      REFUSED,
    );
    expect(await statusAndError(await ask(CREDENTIALS))).toEqual(REFUSED);
  });
});

describe("the token of a service client", () => {
  test("B93: has no more scopes than the client", async ({ expect }) => {
    const { form } = await newService();
    for (const scope of ["mcp", "mcp:beta", "mcp:alpha mcp:beta", "admin", "mcp:alpha admin"]) {
      expect([scope, await statusAndError(await ask({ ...form, scope }))]).toEqual([
        scope,
        [400, "invalid_scope"],
      ]);
    }
    const { scope } = await tokensIn(await ask({ ...form, scope: "mcp:alpha" }));
    expect(scope).toBe("mcp:alpha");
  });

  test("B93: has no resource but its own, however it is spelt", async ({ expect }) => {
    const { form } = await newService();
    for (const resource of [`${ORIGIN}/mcp`, ORIGIN, `${ORIGIN}/mcp/beta`, "https://a.example"]) {
      expect([resource, await statusAndError(await ask({ ...form, resource }))]).toEqual([
        resource,
        [400, "invalid_target"],
      ]);
    }
    for (const resource of [`${ORIGIN}/mcp/alpha`, `${ORIGIN}/sse/alpha/`]) {
      const tokens = await tokensIn(await ask({ ...form, resource }));
      expect(tokens["resource"]).toBe(`${ORIGIN}/mcp/alpha`);
    }
  });

  test("has a part of the client's scopes for all servers, by their name there", async ({
    expect,
  }) => {
    const resources = [`${ORIGIN}/mcp`, `${ORIGIN}/mcp/alpha`];
    const { form } = await newService({ scopes: ["mcp"], resources });
    const scopeOf = async (more: Form): Promise<string> =>
      (await tokensIn(await ask({ ...form, ...more }))).scope;
    expect(await scopeOf({})).toBe("mcp");
    expect(await scopeOf({ scope: "mcp:beta" })).toBe("mcp:beta");
    expect(await scopeOf({ resource: `${ORIGIN}/mcp/alpha` })).toBe("mcp");
    expect(await scopeOf({ resource: `${ORIGIN}/mcp/alpha`, scope: "mcp:alpha" })).toBe(
      "mcp:alpha",
    );
  });

  test("is not issued where the client's scopes do not apply", async ({ expect }) => {
    const { form } = await newService({ scopes: ["mcp:beta"] });
    expect(await statusAndError(await ask(form))).toEqual([400, "invalid_scope"]);
    const { form: bare } = await newService({ resources: [] });
    expect(await statusAndError(await ask(bare))).toEqual([400, "invalid_target"]);
  });
});
