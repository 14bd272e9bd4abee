/**
 * `@cloudflare/workers-oauth-provider` in workerd as the authorization server of a real MCP server, as many vendors
 * run it: an application calls through the gateway, its user connects, the token ends, and the user disconnects.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";

import type { OAuthWorkerState } from "../oauth-worker/state.ts";
import { bundleWorker } from "../support/bundle.ts";
import { signIn } from "../support/oauth-client.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import { ROOT } from "../support/process.ts";
import { type Server, startBeforeDemo, startGateway } from "../support/servers.ts";
import { until } from "../support/until.ts";
import { connectAccount, linkIn } from "./account-links.ts";
import { textOf } from "./outcome.ts";
import { Application, useTool } from "./sign-in-suite.ts";

let folder: string;
let vendor: Server;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "edgeway-oauth-worker-"));
  const bundle = bundleWorker(`${ROOT}test/oauth-worker/wrangler.toml`, folder);
  vendor = await startBeforeDemo(bundle);
});
afterAll(async () => {
  await vendor?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function control(command: "state" | "expire"): Promise<OAuthWorkerState> {
  const response = await fetch(`${vendor.url}/control/${command}`);
  return (await response.json()) as OAuthWorkerState;
}

describe.each(["modern", "legacy"] as const)("a server that is spoken to as %s", (era) => {
  let gateway: Server;
  beforeAll(async () => {
    const tea = { url: `${vendor.url}/mcp`, era, auth: "oauth", oauth: { label: "Tea" } };
    gateway = await startGateway({ auth: "oauth", servers: { tea } });
  });
  afterAll(() => gateway?.stop());

  test("is connected, called, called with a refreshed token, and disconnected", async ({
    expect,
    onTestFinished,
  }) => {
    const before = (await control("state")).requests.length;
    const kind = SDK_V2.find(({ name }) => name === "v2-auto");
    if (kind === undefined) throw new Error("There is no such SDK");
    const application = new Application(gateway.url, kind);
    onTestFinished(() => application.close());
    const connection = await application.connect();
    const { browser } = application;
    await signIn(browser, OWNER_CODE).catch(() => undefined);

    const refused = textOf(await connection.callTool("todays_tea"));
    const done = await connectAccount(browser, linkIn(refused));
    expect(done.text).toContain("Tea is connected");
    await useTool(connection);
    const [first] = (await control("state")).refreshTokens;

    expect((await control("expire")).accessTokens).toBe(0);
    await useTool(connection);
    const [second, ...others] = (await control("state")).refreshTokens;
    expect([typeof first, typeof second, others]).toEqual(["string", "string", []]);
    expect(second).not.toBe(first);

    const page = await browser.visit("/account");
    await browser.submit(page, { action: "/connect/tea/disconnect" });
    await until(async () => {
      const { refreshTokens, accessTokens } = await control("state");
      return refreshTokens.length + accessTokens === 0;
    }, "the vendor has no token any more");
    expect(textOf(await connection.callTool("todays_tea"))).toContain("connect your account");
    const { requests } = await control("state");
    const revocations = requests.slice(before).filter((request) => request === "revoke");
    expect(requests.slice(before).filter((request) => request !== "revoke")).toEqual([
      ...["register", "authorization_code", "refresh_token"],
    ]);
    expect(revocations.length).toBeGreaterThan(0);
  });
});
