/**
 * Each client that people use: with what it is known to send, it gets from the gateway's URL alone
 * to the result of a tool, and goes on when its token has to be refreshed.
 */

import { beforeAll, describe, test } from "vitest";

import { modern, modernCall } from "../integration/client.ts";
import { responseIn } from "../integration/event-reader.ts";
import { authorizeUrl } from "../support/oauth-requests.ts";
import { hitsAt } from "./canary.ts";
import { forget } from "./client-rows.ts";
import { type Habits, MCP, RealClient, serveOneServer } from "./real-client.ts";
import { CLAUDE, CLIENTS, serveDocuments } from "./real-clients.ts";
import { Signer } from "./signing.ts";

const RESULT = { content: [{ type: "text", text: "ran work" }] };

beforeAll(async () => {
  serveOneServer();
  await serveDocuments();
});

test.for(Object.entries<Habits>(CLIENTS))("B115: %s", async ([, habits], { expect }) => {
  const client = new RealClient(habits);
  const page = await client.connect();
  expect(page.text).toContain(`Connect “${habits.name}”?`);
  expect(client.tokens).toMatchObject({ token_type: "bearer", scope: "mcp", expires_in: 3600 });
  expect(await client.useTool()).toEqual(RESULT);
  const { access_token, refresh_token } = client.tokens ?? {};
  await client.refresh();
  expect(client.tokens?.access_token).not.toBe(access_token);
  expect(client.tokens?.refresh_token).not.toBe(refresh_token);
  expect(await client.useTool()).toEqual(RESULT);
});

test("Claude Code speaks the modern revision with its token", async ({ expect }) => {
  const client = new RealClient(CLIENTS["Claude Code"]);
  await client.connect();
  const { headers } = client;
  const discovered = await modern({ mcp: MCP }, "server/discover", {}, { headers });
  expect((await responseIn(discovered)).result).toHaveProperty("supportedVersions");
  const called = await modernCall({ mcp: MCP }, { headers });
  expect((await responseIn(called)).result).toMatchObject(RESULT);
});

test("mcp-remote finds the same scope wherever it looks", async ({ expect }) => {
  const client = new RealClient(CLIENTS["mcp-remote"]);
  const { challenge, resource, server } = await client.discover();
  await client.connect();
  expect([
    challenge["scope"],
    resource["scopes_supported"],
    client.client["scope"],
    server["scopes_supported"],
  ]).toEqual(["mcp", ["mcp"], "mcp", ["mcp"]]);
});

describe("a client document", () => {
  test("is vouched for by its host, and is loaded once for all users", async ({ expect }) => {
    for (let n = 0; n < 2; n++) {
      const client = new RealClient(CLIENTS["Claude"]);
      const page = await client.ask(await client.discover());
      expect(page.text).toContain("claude.ai This host was checked.");
    }
    const hits = await hitsAt("claude.ai");
    expect(hits.filter(({ url }) => url === CLAUDE)).toHaveLength(1);
  });

  test("with a loopback port in it is valid for every port, and for no other host", async ({
    expect,
  }) => {
    for (const redirectUri of [
      "http://127.0.0.1:6001/",
      "http://127.0.0.1:6001/callback/x",
      "http://[::1]:6001/callback",
      "https://127.0.0.1/callback",
      "https://claude.ai/api/mcp/auth_callback",
    ]) {
      const client = new RealClient({ ...CLIENTS["Claude Code"], redirectUri });
      const page = await client.ask(await client.discover());
      expect([redirectUri, page.status, page.left]).toEqual([redirectUri, 400, undefined]);
    }
  });

  test("that has keys rejects a client with another one", async ({ expect }) => {
    const other = await Signer.make("RS256");
    const client = new RealClient({
      ...CLIENTS["a connector of ChatGPT"],
      prove: ({ client_id }) => other.parameters(client_id),
    });
    await expect(client.connect()).rejects.toThrow(/401 .*invalid_client/);
  });
});

describe("a client id that the gateway has deleted", () => {
  test.for(["Claude, registered", "VS Code, registered", "Cursor", "the Inspector"] as const)(
    "makes the client register again: %s",
    async (name, { expect }) => {
      const client = new RealClient(CLIENTS[name]);
      await client.connect();
      const { client_id } = client.client;
      await forget(client_id);
      // Where no person is there to read anything.
      for (const parameters of [
        { grant_type: "refresh_token", refresh_token: client.tokens?.refresh_token },
        { grant_type: "authorization_code", code: "gone", code_verifier: "v".repeat(43) },
      ]) {
        const response = await client.askForToken(parameters);
        expect(response.status).toBe(401);
        expect(await response.json()).toMatchObject({ error: "invalid_client" });
      }
      const redirect_uri = client.habits.redirectUri;
      const page = await client.browser.visit(authorizeUrl(client, { client_id, redirect_uri }));
      expect([page.status, page.left]).toEqual([400, undefined]);
      expect(page.text).toContain("In the application, remove this server and add it again.");

      await client.connect();
      expect(client.client.client_id).not.toBe(client_id);
      expect(await client.useTool()).toEqual(RESULT);
    },
  );
});
