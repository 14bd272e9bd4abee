/** The gateway's own keys are changed as `docs/operations.md` says, between one start and the next on one storage. */

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "vitest";

import { freePort } from "../support/free-port.ts";
import { Browser } from "../support/oauth-browser.ts";
import type { Cookie } from "../support/oauth-cookies.ts";
import { signIn } from "../support/oauth-client.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { startGateway } from "../support/servers.ts";
import {
  type Kept,
  mcp,
  modern,
  sendTo,
  STORED_ORIGIN,
  STORED_SERVERS,
} from "../support/stored-gateway.ts";
import { Vendor } from "../support/vendor/vendor.ts";
import { startVendors, type Vendors } from "../support/vendor/vendors.ts";
import { useGateway } from "../support/use-gateway.ts";

let folder: string;
let port: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "edgeway-rotating-"));
  port = await freePort();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** One deployment, from its start to the next. */
async function deployedWith<T>(
  vars: Readonly<Record<string, string>>,
  act: (address: string) => Promise<T>,
): Promise<T> {
  const options = {
    auth: "oauth",
    port,
    persistTo: folder,
    servers: STORED_SERVERS,
    vars,
  } as const;
  const gateway = await startGateway(options);
  try {
    return await act(gateway.url);
  } finally {
    await gateway.stop();
  }
}

const newKey = (): string => randomBytes(32).toString("base64url");

/** The statuses that say what is still good of what people and applications have. */
async function goodOf(kept: Kept, address: string): Promise<Readonly<Record<string, unknown>>> {
  const send = sendTo(address);
  const browser = new Browser(STORED_ORIGIN, send);
  for (const cookie of kept.cookies) browser.jar.put(cookie as unknown as Cookie);
  const session = {
    Authorization: `Bearer ${kept.apiKey}`,
    "Mcp-Session-Id": kept.session,
    "MCP-Protocol-Version": "2025-11-25",
  };
  const list = { id: 1, method: "tools/list" };
  const [first] = kept.events;
  return {
    browser: (await browser.visit("/account")).url.pathname,
    token: (await mcp(send, "/mcp", ...modern(kept.accessToken, "tools/list"))).status,
    key: (await mcp(send, "/mcp/demo", ...modern(kept.apiKey, "tools/list"))).status,
    session: (await mcp(send, "/mcp/demo", session, list)).status,
    events: (await mcp(send, "/mcp/demo", { ...session, "Last-Event-ID": first?.id ?? "" })).status,
  };
}

const ALL = { browser: "/account", token: 200, key: 200, session: 200, events: 200 };

describe("SESSION_KEYS", () => {
  test("are changed in two steps without any session noticing, and then without the old key", async ({
    expect,
  }) => {
    const [old, next] = [newKey(), newKey()];
    const kept = await deployedWith({ SESSION_KEYS: old }, useGateway);
    const good = (keys: string): ReturnType<typeof goodOf> =>
      deployedWith({ SESSION_KEYS: keys }, (address) => goodOf(kept, address));
    expect(await good(`${old},${next}`)).toEqual(ALL);
    expect(await good(`${next},${old}`)).toEqual(ALL);
    expect(await good(next)).toEqual({ ...ALL, session: 404, events: 404 });
  });

  test("may be set where the gateway has made its own: sessions begin anew", async ({ expect }) => {
    const kept = await deployedWith({}, useGateway);
    const good = await deployedWith({ SESSION_KEYS: newKey() }, (at) => goodOf(kept, at));
    expect(good).toEqual({ ...ALL, session: 404, events: 404 });
  });
});

const NOTHING = { browser: "/login", token: 401, key: 401, session: 401, events: 401 };

test.for([["another", { AUTH_SECRET: newKey() }] as const, ["the first", {}] as const])(
  "%s AUTH_SECRET ends everything that people and applications have",
  async ([, before], { expect }) => {
    const kept = await deployedWith(before, useGateway);
    const good = await deployedWith({ AUTH_SECRET: newKey() }, (at) => goodOf(kept, at));
    expect(good).toEqual(NOTHING);
  },
);

test("another OWNER_CODE ends what began under the earlier one", async ({ expect }) => {
  const kept = await deployedWith({ OWNER_CODE }, useGateway);
  const good = await deployedWith({ OWNER_CODE: newKey() }, (at) => goodOf(kept, at));
  expect(good).toEqual(NOTHING);
});

describe("VAULT_SECRET", () => {
  const KEY = "tea-key-of-the-first-day";
  let vendors: Vendors;
  let tea: Vendor;
  let browser: Browser;

  beforeEach(async () => {
    vendors = await startVendors();
    tea = await Vendor.take(vendors.origin, { keys: { [`Bearer ${KEY}`]: "alice" } });
  });
  afterEach(() => vendors.stop());

  async function addServer(address: string): Promise<void> {
    browser = new Browser(address, overHttp);
    await signIn(browser, OWNER_CODE);
    const list = await browser.visit("/admin/servers");
    const map = { tea: { url: tea.url, headers: { Authorization: `Bearer ${KEY}` } } };
    const text = JSON.stringify({ mcpServers: map });
    const shown = await browser.submit(list, { button: "Read it", fields: { text } });
    const draft = await browser.submit(shown, { button: "Keep as a draft" });
    await browser.submit(draft, { button: "Serve it tea" });
  }

  /** Has it looked at anew. @returns what its page and the list of what needs somebody say of it. */
  async function stateOf(): Promise<string> {
    const page = await browser.visit("/admin/servers/tea");
    const button = page.forms.some(({ action }) => action.endsWith("/check"));
    if (button) await browser.submit(page, { button: "Check now tea" });
    return (await browser.visit("/admin/servers/tea")).text;
  }

  async function sealAnew(): Promise<string> {
    const admin = await browser.visit("/admin");
    return (await browser.submit(admin, { button: "Seal all accounts anew" })).text;
  }

  test("is set, and changed, and no added server loses its secret", async ({ expect }) => {
    const [first, next] = [newKey(), newKey()];
    await deployedWith({}, addServer);
    // The first one alone: what was sealed without it stays readable.
    expect(await deployedWith({ VAULT_SECRET: first }, sealAnew)).toContain("It was not so of 1.");
    const both = { VAULT_SECRET: `${next},${first}` };
    expect(await deployedWith(both, sealAnew)).toContain("It was not so of 1.");
    expect(await deployedWith({ VAULT_SECRET: next }, stateOf)).toMatch(/tea Healthy.*2 tools/s);
  });

  test("that was changed without sealing anew is named with what to do, which mends it", async ({
    expect,
  }) => {
    const [first, next] = [newKey(), newKey()];
    await deployedWith({ VAULT_SECRET: first }, addServer);
    const state = await deployedWith({ VAULT_SECRET: next }, stateOf);
    expect(state).toContain("put the earlier one behind the new one, and press Seal all accounts");
    await deployedWith({ VAULT_SECRET: `${next},${first}` }, sealAnew);
    expect(await deployedWith({ VAULT_SECRET: next }, stateOf)).toMatch(/tea Healthy.*2 tools/s);
  });
});
