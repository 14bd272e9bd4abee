/**
 * A server that demands a login of each person, behind the gateway: real clients call it, read where to
 * connect an account, and repeat the call when it is connected.
 */

import { afterAll, beforeAll, beforeEach, describe, test } from "vitest";

import { signIn } from "../support/oauth-client.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import type { SdkKind } from "../support/oauth-sdk.ts";
import { SDK_V1 } from "../support/oauth-sdk-v1.ts";
import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { Vendor } from "../support/vendor/vendor.ts";
import { startVendors, type Vendors } from "../support/vendor/vendors.ts";
import type { Json } from "../support/clients-face.ts";
import { connectAccount, linkIn } from "./account-links.ts";
import { textOf } from "./outcome.ts";
import { Application } from "./sign-in-suite.ts";

let vendors: Vendors;
beforeAll(async () => {
  vendors = await startVendors();
});
afterAll(() => vendors.stop());

const RAN = "ran whoami as alice";

describe.each([...SDK_V1, ...SDK_V2])("an application on the SDK ($name)", (kind: SdkKind) => {
  let gateway: Server;
  let vendor: Vendor;
  beforeAll(async () => {
    vendor = await Vendor.take(vendors.origin);
    const servers = { notes: { url: vendor.url, auth: "oauth", oauth: { label: "Notes" } } };
    gateway = await startGateway({ auth: "oauth", servers });
  });
  afterAll(() => gateway.stop());

  test("U41 U56 calls, reads the link, and calls again when the account is connected, and so when it has ended; 64 calls at the end of a token lead to one refresh", async ({
    expect,
  }) => {
    const application = new Application(gateway.url, kind);
    try {
      const connection = await application.connect();
      const refused = textOf(await connection.callTool("whoami"));
      expect(refused).toContain("Notes needs you to connect your account to continue.");
      const { browser } = application;
      await signIn(browser, OWNER_CODE).catch(() => undefined);
      const done = await connectAccount(browser, linkIn(refused));
      expect(done.text).toContain("connected");
      expect(textOf(await connection.callTool("whoami"))).toBe(RAN);

      await vendor.withdraw();
      const ended = textOf(await connection.callTool("whoami"));
      expect(ended).toContain("Notes needs you to connect your account again to continue.");
      await connectAccount(browser, linkIn(ended));
      expect(textOf(await connection.callTool("whoami"))).toBe(RAN);
      expect(await vendor.count("register")).toBe(1);

      await vendor.expire();
      const before = await vendor.count("refresh");
      const calls = Array.from({ length: 64 }, () => connection.callTool("whoami"));
      const results = await Promise.all(calls);
      expect(new Set(results.map(textOf))).toEqual(new Set([RAN]));
      expect((await vendor.count("refresh")) - before).toBe(1);
    } finally {
      await application.close();
    }
  });
});

/** A client by hand, with the token of an application: it says what it can do, and reads what comes. */
class Caller {
  readonly #url: string;
  readonly #token: string;
  #session: string | undefined;
  #id = 0;

  constructor(gateway: string, token: string) {
    this.#url = `${gateway}/mcp`;
    this.#token = token;
  }

  /** A call of 2026-07-28 by a client that opens pages. */
  modern(round: Json = {}): Promise<Json> {
    const headers = { "Mcp-Method": "tools/call", "Mcp-Name": "whoami" };
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "by-hand", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {}, url: {} } },
    };
    const params = { name: "whoami", arguments: {}, ...round, _meta };
    return this.#send({ id: (this.#id += 1), method: "tools/call", params }, "2026-07-28", headers);
  }

  /** @param capabilities of a client that opens pages, unless given. */
  async initialize(capabilities: Json = { elicitation: { form: {}, url: {} } }): Promise<void> {
    this.#session = undefined;
    const params = {
      protocolVersion: "2025-11-25",
      capabilities,
      clientInfo: { name: "by-hand", version: "1.0.0" },
    };
    await this.#send({ id: 0, method: "initialize", params }, "2025-11-25");
    await this.#send({ method: "notifications/initialized" }, "2025-11-25");
  }

  legacy(): Promise<Json> {
    return this.request("tools/call", { name: "whoami", arguments: {} });
  }

  request(method: string, params: Json): Promise<Json> {
    return this.#send({ id: (this.#id += 1), method, params }, "2025-11-25");
  }

  async #send(
    message: object,
    revision: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Json> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${this.#token}`,
        Accept: "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": revision,
        ...(this.#session !== undefined && { "Mcp-Session-Id": this.#session }),
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    this.#session = response.headers.get("mcp-session-id") ?? this.#session;
    const text = await response.text();
    const events = [...text.matchAll(/^data: ?(\{.*)$/gm)].map(([, data = ""]) => data);
    return (text === "" ? {} : JSON.parse(events.at(-1) ?? text)) as Json;
  }
}

describe("a client that opens pages", () => {
  let gateway: Server;
  let vendor: Vendor;
  let application: Application;
  let caller: Caller;
  beforeAll(async () => {
    vendor = await Vendor.take(vendors.origin);
    const servers = { notes: { url: vendor.url, auth: "oauth", oauth: { label: "Notes" } } };
    gateway = await startGateway({ auth: "oauth", servers });
    const kind = SDK_V2.find(({ name }) => name === "v2-modern");
    if (kind === undefined) throw new Error("There is no such SDK");
    application = new Application(gateway.url, kind);
    await application.connect();
    caller = new Caller(gateway.url, application.keychain.kept?.access_token ?? "");
    await signIn(application.browser, OWNER_CODE).catch(() => undefined);
  });
  afterAll(async () => {
    await application.close();
    await gateway.stop();
  });

  const disconnect = async (): Promise<void> => {
    const { browser } = application;
    await browser.submit(await browser.visit("/account"), { action: "/connect/notes/disconnect" });
  };
  interface Asked {
    readonly requestState: string;
    readonly inputRequests: { connect: { params: { mode: string; url: string } } };
  }

  test("U54 of 2026-07-28 is asked, its retry is held, and goes through when the account is there", async ({
    expect,
  }) => {
    const { result } = (await caller.modern()) as { result: Json };
    expect(result).toMatchObject({ resultType: "input_required" });
    const { requestState, inputRequests } = result as unknown as Asked;
    const { mode, url } = inputRequests.connect.params;
    expect(mode).toBe("url");
    const accepted = { requestState, inputResponses: { connect: { action: "accept" } } };
    const retried = caller.modern(accepted);
    await connectAccount(application.browser, url);
    expect(await retried).toMatchObject({ result: { content: [{ text: RAN }] } });
    await disconnect();
  });

  test("U54 of 2026-07-28 that declines gets an error result, and is not asked again", async ({
    expect,
  }) => {
    const { result } = (await caller.modern()) as { result: Json };
    const { requestState } = result as unknown as Asked;
    const declined = { requestState, inputResponses: { connect: { action: "decline" } } };
    expect(await caller.modern(declined)).toMatchObject({ result: { isError: true } });
  });

  test("U54 a state that was changed reaches no server", async ({ expect }) => {
    const { result } = (await caller.modern()) as { result: Json };
    const { requestState } = result as unknown as Asked;
    const changed = { requestState: `${requestState.slice(0, -4)}AAAA`, inputResponses: {} };
    expect(await caller.modern(changed)).toMatchObject({ error: { code: -32602 } });
  });

  test("U58 of 2025-11-25 sets the log level, as many do at once, and finds a tool to connect with", async ({
    expect,
  }) => {
    await caller.initialize();
    const level = await caller.request("logging/setLevel", { level: "info" });
    expect(level).toMatchObject({ result: {} });
    const listed = await caller.request("tools/list", {});
    expect(listed).toMatchObject({ result: { tools: [{ name: "connect_account" }] } });
  });

  test("U55 of 2025-11-25 gets -32042, and its repetition goes through", async ({ expect }) => {
    await caller.initialize();
    const { error } = (await caller.legacy()) as { error: Json };
    expect(error).toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: "url", elicitationId: expect.any(String) }] },
    });
    const { elicitations } = error["data"] as { elicitations: readonly { url: string }[] };
    await connectAccount(application.browser, elicitations[0]?.url ?? "");
    expect(await caller.legacy()).toMatchObject({ result: { content: [{ text: RAN }] } });
  });

  test("U41 64 calls at the moment when the token ends lead to one refresh, and 64 results", async ({
    expect,
  }) => {
    await vendor.expire();
    const before = await vendor.count("refresh");
    const calls = Array.from({ length: 64 }, (_, n) =>
      n % 2 === 0 ? caller.legacy() : caller.modern(),
    );
    const answers = await Promise.all(calls);
    for (const answer of answers) {
      expect(answer).toMatchObject({ result: { content: [{ text: RAN }] } });
    }
    expect((await vendor.count("refresh")) - before).toBe(1);
  });

  describe("whose access the vendor has ended", () => {
    beforeEach(() => vendor.withdraw());

    test("U55 gets the link in -32042, and the same call goes through after it", async ({
      expect,
    }) => {
      const { error } = (await caller.legacy()) as { error: Json };
      const { elicitations } = error["data"] as { elicitations: readonly { url: string }[] };
      await connectAccount(application.browser, elicitations[0]?.url ?? "");
      expect(await caller.legacy()).toMatchObject({ result: { content: [{ text: RAN }] } });
    });

    test("U54 gets the link in a question, and the same call goes through after it", async ({
      expect,
    }) => {
      const { result } = (await caller.modern()) as { result: Json };
      const { requestState, inputRequests } = result as unknown as Asked;
      await connectAccount(application.browser, inputRequests.connect.params.url);
      const accepted = { requestState, inputResponses: { connect: { action: "accept" } } };
      expect(await caller.modern(accepted)).toMatchObject({ result: { content: [{ text: RAN }] } });
    });

    test("U56 gets the link as text if it opens no pages, and the same call goes through after it", async ({
      expect,
    }) => {
      await caller.initialize({});
      const { result } = (await caller.legacy()) as { result: Json };
      expect(result).toMatchObject({ isError: true });
      await connectAccount(application.browser, linkIn(textOf(result)));
      expect(await caller.legacy()).toMatchObject({ result: { content: [{ text: RAN }] } });
    });
  });
});
