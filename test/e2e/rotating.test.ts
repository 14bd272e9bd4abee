/** The gateway's own keys are changed as `docs/operations.md` says, between one start and the next on one storage. */

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "vitest";

import { freePort } from "../support/free-port.ts";
import { Browser } from "../support/oauth-browser.ts";
import type { Cookie } from "../support/oauth-cookies.ts";
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
