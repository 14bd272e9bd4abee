/**
 * B104: whatever passes in the course of a sign-in, and of what can go wrong with one, no secret of
 * it is in the log or in what is stored. Looked for are the secrets themselves, in every object.
 */

import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, test, vi } from "vitest";

import { Browser } from "../support/oauth-browser.ts";
import { approve } from "../support/oauth-client.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import {
  authorizeUrl,
  type Gateway,
  newPkce,
  newSecret,
  REDIRECT_URI,
  register,
  requestToken,
  tokensIn,
} from "../support/oauth-requests.ts";
import { PATHS } from "../../src/pages/view/paths.ts";
import { gateway, ORIGIN } from "./gateway.ts";
import { statusWith } from "./token-use.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Secrets that have passed, by what they are. Of a token, the part that opens something. */
class Secrets {
  readonly all = new Map<string, string>();

  add(name: string, value: string | undefined): string {
    if (value === undefined || value.length < 16) throw new Error(`No secret: ${name}`);
    this.all.set(
      name,
      value.slice(value.lastIndexOf(":") + 1).replace(/^edgeway_.._[a-z0-9]+_/, ""),
    );
    return value;
  }

  /** @returns the names of those that are in a text. */
  foundIn(text: string): readonly string[] {
    return [...this.all].filter(([, value]) => text.includes(value)).map(([name]) => name);
  }
}

/** Everything that is logged from now on. */
function logged(): () => string {
  const lines: string[] = [];
  for (const method of ["log", "info", "warn", "error", "debug"] as const) {
    vi.spyOn(console, method).mockImplementation((...values: unknown[]) => {
      for (const value of values) {
        const isText = typeof value === "string" || value instanceof Error;
        lines.push(isText ? String(value) : JSON.stringify(value));
      }
    });
  }
  return () => lines.join("\n");
}

/** Every row and value of every object. */
async function dump(): Promise<string> {
  const texts: string[] = [];
  const namespaces = [env.AUTH, env.SESSIONS, env.REGISTRY] as unknown as DurableObjectNamespace[];
  for (const namespace of namespaces) {
    for (const id of await listDurableObjectIds(namespace)) {
      const stub = namespace.get(id);
      texts.push(await runInDurableObject(stub, (_, { storage }) => contentOf(storage)));
    }
  }
  return texts.join("\n");
}

async function contentOf(storage: DurableObjectStorage): Promise<string> {
  const { sql } = storage;
  const query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*'";
  const tables = [...sql.exec<{ name: string }>(query)].map(({ name }) => name);
  const rows = tables.flatMap((name) => [...sql.exec(`SELECT * FROM "${name}"`)]);
  return JSON.stringify([rows, [...(await storage.list())]]);
}

/** Notes what the gateway gives a browser, and what its forms carry. */
function watched(secrets: Secrets): Browser {
  let count = 0;
  return new Browser(ORIGIN, async (url, sent) => {
    const form = new URLSearchParams(typeof sent?.body === "string" ? sent.body : "");
    for (const [name, value] of form) {
      if (["handle", "csrf"].includes(name) && value !== "")
        secrets.add(`${name} ${(count += 1)}`, value);
    }
    const response = await gateway.send(url, sent);
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value !== "") secrets.add(`cookie ${name} ${(count += 1)}`, value);
    }
    return response;
  });
}

async function isGood(token: string, path = "/mcp"): Promise<boolean> {
  return (await statusWith(token, path)) !== 401;
}

test("B104: no secret is logged or stored in plain text", async ({ expect }) => {
  const log = logged();
  const secrets = new Secrets();
  const browser = watched(secrets);
  const watchedGateway: Gateway = { origin: ORIGIN, send: gateway.send };
  secrets.add("owner code", OWNER_CODE);

  // An application with a secret goes through the whole way.
  const client = await register(watchedGateway, {
    client_name: "Canary",
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: "client_secret_post",
  });
  const own = {
    client_id: client.client_id,
    client_secret: secrets.add("client secret", client.client_secret),
  };
  const begin = async (): Promise<{ url: string; code_verifier: string }> => {
    const n = secrets.all.size;
    const { verifier, challenge } = await newPkce(secrets.add(`verifier ${n}`, newSecret()));
    const state = secrets.add(`state ${n}`, newSecret());
    const asked = { client_id: own.client_id, redirect_uri: REDIRECT_URI, state };
    return {
      url: authorizeUrl(gateway, { ...asked, code_challenge: challenge }),
      code_verifier: verifier,
    };
  };
  const connect = async (): Promise<Record<string, string>> => {
    const { url, code_verifier } = await begin();
    const left = await approve(browser, url, { code: OWNER_CODE });
    const code = secrets.add(
      `code ${secrets.all.size}`,
      left.searchParams.get("code") ?? undefined,
    );
    return {
      ...own,
      grant_type: "authorization_code",
      redirect_uri: REDIRECT_URI,
      code,
      code_verifier,
    };
  };
  const exchange = await connect();
  const first = await tokensIn(await requestToken(gateway, exchange));
  secrets.add("access token", first.access_token);
  const renewal = {
    ...own,
    grant_type: "refresh_token",
    refresh_token: secrets.add("refresh token", first.refresh_token),
  };
  expect(await isGood(first.access_token)).toBe(true);
  const second = await tokensIn(await requestToken(gateway, renewal));
  secrets.add("second access token", second.access_token);
  secrets.add("second refresh token", second.refresh_token);
  expect(await isGood(second.access_token, "/sse")).toBe(true);

  // What goes wrong: a code twice, a wrong secret, a wrong token, a wrong verifier.
  expect((await requestToken(gateway, exchange)).status).toBe(400);
  const wrong = secrets.add("wrong secret", newSecret());
  expect((await requestToken(gateway, { ...renewal, client_secret: wrong })).status).toBe(401);
  const forged = `${second.access_token.slice(0, -32)}${newSecret().slice(0, 32)}`;
  expect(await isGood(secrets.add("forged token", forged))).toBe(false);
  const another = await connect();
  const guess = secrets.add("wrong verifier", newSecret());
  expect((await requestToken(gateway, { ...another, code_verifier: guess })).status).toBe(400);
  // A secret where none belongs: in a query, in a redirect URI, in a client id.
  const stray = secrets.add("stray", newSecret());
  for (const path of [
    `/mcp?access_token=${stray}`,
    `/.well-known/oauth-authorization-server?token=${stray}`,
    `/callback/owner?code=${stray}&state=${stray}`,
    `/authorize?client_id=${own.client_id}&redirect_uri=http://127.0.0.1/x?t=${stray}&state=${stray}`,
    `/account?token=${stray}`,
  ]) {
    const headers = { Accept: "text/html" };
    await (await gateway.send(ORIGIN + path, { method: "GET", headers })).text();
  }
  const other = watched(secrets);
  const code = secrets.add("wrong code", `wrong-${newSecret()}`);
  await other.submit(await other.visit("/login"), { fields: { code } });
  expect((await other.visit(PATHS.account)).url.pathname).not.toBe(PATHS.account);

  // Keys that are made on the pages.
  const made = await browser.submit(await browser.visit(PATHS.account), {
    action: PATHS.createKey,
    fields: { label: "canary key" },
  });
  const key = secrets.add("API key", /edgeway_sk_\w{16}_[\w-]{43}/.exec(made.text)?.[0]);
  expect(await isGood(key)).toBe(true);
  const service = await browser.submit(await browser.visit(PATHS.admin), {
    action: PATHS.createService,
    fields: { label: "canary service" },
  });
  const serviceId = /svc_[a-z0-9]+/.exec(service.text)?.[0] ?? "";
  const serviceSecret = /(?<![\w-])[\w-]{43}(?![\w-])/.exec(service.text)?.[0];
  const byItself = await requestToken(gateway, {
    grant_type: "client_credentials",
    client_id: serviceId,
    client_secret: secrets.add("service secret", serviceSecret),
  });
  const { access_token: serviceToken } = await byItself.json<{ access_token: string }>();
  expect(await isGood(secrets.add("service token", serviceToken))).toBe(true);
  await browser.submit(await browser.visit(PATHS.account), { action: PATHS.logout });

  const [said, kept] = [log(), await dump()];
  // Both were looked at: what is no secret is in them.
  for (const event of ["signed_in", "sign_in_denied", "grant_created", "code_reuse", "key_used"]) {
    expect(said).toContain(`"what":"${event}"`);
  }
  for (const text of [own.client_id, "canary key", "token_refused", "bearer_refused", serviceId]) {
    expect(kept).toContain(text);
  }
  expect(secrets.all.size).toBeGreaterThan(25);
  expect([secrets.foundIn(said), secrets.foundIn(kept)]).toEqual([[], []]);
});
