/** The endpoint of a server that an operator has added, for those who are signed in. */

// Has an isolate of its own: it adds servers to the gateway.
import { env } from "cloudflare:workers";
import { beforeAll, describe, inject, onTestFinished, test, vi } from "vitest";

import { serverStoreIn } from "../../durable-objects/live-config.ts";
import { LiveServers } from "../../src/config/registry/live-servers.ts";
import { startAnewUnasked } from "../integration/added-server.ts";
import { initializeMessage, post } from "../integration/client.ts";
import { tokensIn } from "../support/oauth-requests.ts";
import { ask, connect, refreshing } from "./codes.ts";
import { ORIGIN } from "./gateway.ts";
import { as, Person } from "./people.ts";

const PATH = "/mcp/notes";
const store = serverStoreIn(env);

let person: Person;

beforeAll(async () => {
  person = await Person.signIn();
  const entry = { url: `${inject("scripted")}/u/alpha` };
  await store.putServer(
    {
      ...{ slug: "notes", state: "live", entry, secretNames: [] },
      ...{ provenance: { kind: "url" }, changedBy: person.id, changedAt: Date.now() },
    },
    0,
  );
});

async function statusAt(path: string, token: string): Promise<number> {
  const response = await post(ORIGIN + path, initializeMessage(), as(token));
  await response.text();
  return response.status;
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
    const renewed = vi.spyOn(LiveServers.prototype, "renewed").mockImplementation(() => {
      asked();
      return Promise.resolve(true);
    });
    onTestFinished(() => renewed.mockRestore());
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
});
