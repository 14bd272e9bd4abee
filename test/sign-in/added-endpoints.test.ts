/** The endpoint of a server that an operator has added, for those who are signed in. */

// Has an isolate of its own: it adds servers to the gateway.
import { env } from "cloudflare:workers";
import { beforeAll, describe, inject, test, vi } from "vitest";

import { serverStoreIn } from "../../durable-objects/live-config.ts";
import { LiveServers } from "../../src/config/registry/live-servers.ts";
import { startAnewUnasked } from "../integration/added-server.ts";
import { initializeMessage, post } from "../integration/client.ts";
import { authorizeUrl, newPkce, REDIRECT_URI, tokensIn } from "../support/oauth-requests.ts";
import { passTime } from "./clock.ts";
import { ask, connect, isGood, newClient, refreshing, statusAndError } from "./codes.ts";
import { gateway, ORIGIN } from "./gateway.ts";
import { as, Person } from "./people.ts";
import { refresh, refusal, REFUSED, WINDOW } from "./refreshes.ts";

const PATH = "/mcp/notes";
const store = serverStoreIn(env);

let person: Person;

beforeAll(async () => {
  person = await Person.signIn();
  await addServer();
});

async function addServer(): Promise<void> {
  const entry = { url: `${inject("scripted")}/u/alpha` };
  await store.putServer(
    {
      ...{ slug: "notes", state: "live", entry, secretNames: [] },
      ...{ provenance: { kind: "url" }, changedBy: person.id, changedAt: Date.now() },
    },
    0,
  );
}

async function removeServer(): Promise<void> {
  const [server] = (await store.addedServers()).servers;
  await store.removeServer("notes", server?.revision ?? 0);
}

async function statusAt(path: string, token: string): Promise<number> {
  const response = await post(ORIGIN + path, initializeMessage(), as(token));
  await response.text();
  return response.status;
}

/** The status of a response, where it leads, and whether it says when to come back. */
async function sent(url: string): Promise<readonly unknown[]> {
  const { status, headers } = await gateway.send(url, { method: "GET" });
  return [status, headers.get("location"), headers.has("retry-after")];
}

function described(path: string): Promise<readonly unknown[]> {
  return sent(`${ORIGIN}/.well-known/oauth-protected-resource${path}`);
}

describe("the endpoint of an added server", () => {
  test("takes a token for everything", async ({ expect }) => {
    const { tokens } = await person.connect({ path: "/mcp" });
    expect(await statusAt(PATH, tokens.access_token)).toBe(200);
  });

  test("takes a key for everything", async ({ expect }) => {
    const { token } = await person.key({ path: "/mcp" });
    expect(await statusAt(PATH, token)).toBe(200);
  });

  test("can be signed in at, and its token is for no other", async ({ expect }) => {
    const { tokens } = await person.connect({ path: PATH });
    expect(await statusAt(PATH, tokens.access_token)).toBe(200);
    expect(await statusAt("/mcp/alpha", tokens.access_token)).toBe(401);
    expect(await statusAt("/mcp", tokens.access_token)).toBe(401);
  });

  test("renews its token also where this isolate does not know of the server yet", async ({
    expect,
  }) => {
    const application = await connect({ path: PATH, scopes: ["mcp:notes"] });
    const { asked } = await startAnewUnasked();
    vi.spyOn(LiveServers.prototype, "renewed").mockImplementation(() => {
      asked();
      return Promise.resolve(true);
    });
    // Without a resource: the one of the grant counts.
    const form = refreshing(application, application.tokens.refresh_token);
    expect(await tokensIn(await ask(form))).toHaveProperty("resource", ORIGIN + PATH);
  });

  test("is unavailable, and not unknown, while nobody can be asked for it", async ({ expect }) => {
    const { token } = await person.key({ path: "/mcp" });
    const { asked } = await startAnewUnasked();
    expect(await statusAt(PATH, token)).toBe(503);
    expect(await statusAt("/mcp/alpha", token)).toBe(200);
    asked();
    expect(await statusAt(PATH, token)).toBe(200);
    expect(await statusAt("/mcp/nowhere", token)).toBe(404);
  });

  test("has its tokens revoked, and renewed later, while nobody can be asked for it", async ({
    expect,
  }) => {
    const application = await connect({ path: PATH, scopes: ["mcp:notes"] });
    const other = await connect({ path: PATH, scopes: ["mcp:notes"] });
    const form = refreshing(application, application.tokens.refresh_token);
    const { asked } = await startAnewUnasked();
    for (const resource of [undefined, ORIGIN + PATH]) {
      const answer = await ask({ ...form, resource });
      expect(await statusAndError(answer)).toEqual([503, "temporarily_unavailable"]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    await expect(isGood(application.tokens.access_token, PATH)).rejects.toThrow("servers");
    const { refresh_token: token } = other.tokens;
    expect((await ask({ token, client_id: other.client })).status).toBe(200);
    asked();
    expect((await ask(form)).status).toBe(200);
    expect(await isGood(application.tokens.access_token, PATH)).toBe(true);
    expect(await isGood(other.tokens.access_token, PATH)).toBe(false);
  });

  test("has its metadata and its sign-in later, while nobody can be asked for it", async ({
    expect,
  }) => {
    const { client_id } = await newClient();
    const { challenge } = await newPkce();
    const asking = { client_id, redirect_uri: REDIRECT_URI, code_challenge: challenge, state: "s" };
    const asked = (more: Record<string, string>): Promise<unknown> =>
      sent(authorizeUrl(gateway, { ...asking, ...more }));
    const all = async (): Promise<unknown> => [
      await described(PATH),
      await described("/sse/notes"),
      await asked({ resource: ORIGIN + PATH }),
      await asked({ resource: `${ORIGIN}/sse/notes/`, scope: "mcp" }),
      await asked({ scope: "mcp:notes" }),
    ];
    const later = Array.from({ length: 5 }, () => [503, null, true]);
    const served = Array.from({ length: 5 }, () => [200, null, false]);
    const unasked = await startAnewUnasked();
    expect(await all()).toEqual(later);
    const others = [
      await described("/mcp"),
      await described("/mcp/alpha"),
      await asked({}),
      await asked({ resource: `${ORIGIN}/mcp/alpha` }),
      await asked({ scope: "mcp mcp:nowhere" }),
    ];
    expect(others).toEqual(served);
    unasked.asked();
    expect(await all()).toEqual(served);
  });
});

test("a refresh that is refused while its server is away ends nothing", async ({ expect }) => {
  const application = await connect({ path: PATH, scopes: ["mcp:notes"] });
  const second = await refresh(application, application.tokens);
  passTime(WINDOW);
  await removeServer();
  // The answer with the second may have been lost, so both are accepted.
  expect(await refusal(application, application.tokens)).toEqual(REFUSED);
  expect(await refusal(application, second)).toEqual(REFUSED);
  await addServer();
  expect(await isGood((await refresh(application, second)).access_token, PATH)).toBe(true);
});
