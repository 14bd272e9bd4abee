/**
 * This version on what an earlier one has stored. `test/fixtures/make-storage.ts` has made it: with a session, a call
 * that waits for an answer, and all that signing in leaves behind.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";

import { Browser, type Send } from "../support/oauth-browser.ts";
import type { Cookie } from "../support/oauth-cookies.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { requestToken, tokensIn } from "../support/oauth-requests.ts";
import { ROOT } from "../support/process.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { useGateway } from "../support/use-gateway.ts";
import {
  dumpStorage,
  type Kept,
  mcp,
  modern,
  resultOf,
  restoreStorage,
  sendTo,
  STORED_ORIGIN,
  STORED_SERVERS,
  toolsIn,
} from "../support/stored-gateway.ts";

describe.for(["before-accounts"])("storage %s", (name) => {
  const file = `${ROOT}test/fixtures/storage-${name}`;
  const kept = JSON.parse(readFileSync(`${file}.json`, "utf8")) as Kept;
  const folder = mkdtempSync(join(tmpdir(), "edgeway-earlier-"));
  const bearer = { Authorization: `Bearer ${kept.apiKey}` };
  const inSession = {
    ...bearer,
    "Mcp-Session-Id": kept.session,
    "MCP-Protocol-Version": "2025-11-25",
  };
  let gateway: Server;
  let send: Send;

  beforeAll(async () => {
    restoreStorage(readFileSync(`${file}.sql`, "utf8"), folder, Date.now() - kept.madeAt);
    gateway = await startGateway({
      auth: "oauth",
      persistTo: folder,
      servers: STORED_SERVERS,
      limits: { sessionDays: 3650 },
    });
    send = sendTo(gateway.url);
  });
  afterAll(async () => {
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("a person is still signed in, and sees what is theirs", async ({ expect }) => {
    const browser = new Browser(STORED_ORIGIN, send);
    for (const cookie of kept.cookies) {
      browser.jar.put({ ...(cookie as unknown as Cookie), expiresAt: undefined });
    }
    const account = await browser.visit("/account");
    expect(account.url.pathname).toBe("/account");
    expect(account.text).toContain("Nightly job");
    expect(account.text).toContain("Test client");
    const admin = await browser.visit("/admin");
    expect(admin.status).toBe(200);
    expect(admin.text).toContain("Nightly job");
    expect(admin.text).toContain("Test client");
  });

  test("an application goes on with its token, and renews it", async ({ expect }) => {
    expect((await mcp(send, "/mcp", ...modern(kept.accessToken, "tools/list"))).status).toBe(200);
    const renewed = await requestToken(
      { origin: STORED_ORIGIN, send },
      {
        grant_type: "refresh_token",
        refresh_token: kept.refreshToken,
        client_id: kept.client.client_id,
      },
    );
    const { access_token: token } = await tokensIn(renewed);
    expect((await mcp(send, "/mcp", ...modern(token, "tools/list"))).status).toBe(200);
  });

  test("keys and service clients work", async ({ expect }) => {
    const { status } = await mcp(send, "/mcp/demo", ...modern(kept.apiKey, "tools/list"));
    expect(status).toBe(200);
    const [id = "", secret = ""] = kept.service;
    const given = await requestToken(
      { origin: STORED_ORIGIN, send },
      { grant_type: "client_credentials", resource: `${STORED_ORIGIN}/mcp` },
      { Authorization: `Basic ${btoa(`${id}:${secret}`)}` },
    );
    expect((await tokensIn(given)).access_token).toBeTruthy();
  });

  test("a session goes on under its id", async ({ expect }) => {
    const listed = await mcp(send, "/mcp/demo", inSession, { id: 10, method: "tools/list" });
    expect(toolsIn(listed)).toEqual(kept.tools);
    const called = await mcp(send, "/mcp/demo", inSession, {
      ...{ id: 11, method: "tools/call" },
      params: { name: "todays_tea", arguments: {} },
    });
    expect(resultOf(called)).toHaveProperty("content");
  });

  test("every event of a call can be fetched again", async ({ expect }) => {
    const [first, ...rest] = kept.events;
    expect(rest.length).toBeGreaterThan(4);
    const headers = { ...inSession, "Last-Event-ID": first?.id ?? "" };
    expect((await mcp(send, "/mcp/demo", headers)).messages).toEqual(rest);
  });

  test("a call that waits for an answer is known, though its server has lost it", async ({
    expect,
  }) => {
    const { state, keys } = kept.question;
    const answers = keys.map((key) => [key, { action: "decline" }]);
    const round = {
      name: "order_tea",
      requestState: state,
      inputResponses: Object.fromEntries(answers) as object,
    };
    const answered = await mcp(send, "/mcp/older", ...modern(kept.apiKey, "tools/call", round));
    const message = expect.stringMatching(/^Upstream "older" lost .*; the result is unknown$/);
    expect(answered.messages.at(-1)?.message).toMatchObject({ error: { message } });
  });

  test("the owner's code signs in the same person", async ({ expect }) => {
    const browser = new Browser(STORED_ORIGIN, send);
    const page = await browser.submit(await browser.visit("/login"), {
      fields: { code: OWNER_CODE },
    });
    expect(page.status).toBe(200);
    expect((await browser.visit("/account")).text).toContain("Nightly job");
  });

  test("a table that has changed since has another number", async ({ expect }) => {
    const other = mkdtempSync(join(tmpdir(), "edgeway-stored-"));
    const fresh = await startGateway({ auth: "oauth", persistTo: other, servers: STORED_SERVERS });
    await useGateway(fresh.url);
    await fresh.stop("SIGKILL");
    const now = tablesIn(dumpStorage(other));
    rmSync(other, { recursive: true, force: true });
    const before = [...tablesIn(readFileSync(`${file}.sql`, "utf8"))];
    const made = before.filter(([table]) => now.has(table));
    expect(made.length).toBeGreaterThan(25);
    expect(made.filter(([table, statement]) => now.get(table) !== statement)).toEqual([]);
  });
});

/** The statements that made the tables of the gateway, by their names. */
function tablesIn(dump: string): ReadonlyMap<string, string> {
  const made = dump.matchAll(/^CREATE TABLE (\w+_\d+) .*$/gm);
  return new Map(Array.from(made, ([statement, table = ""]) => [table, statement]));
}
