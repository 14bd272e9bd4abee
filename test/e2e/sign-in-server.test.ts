/** Clients that were given the address of one server, and name no resource when they ask for access. */

import { afterAll, beforeAll, describe, test } from "vitest";

import { Keychain } from "../support/oauth-sdk.ts";
import { SDK_V1 } from "../support/oauth-sdk-v1.ts";
import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { type DemoServer, startDemo } from "./demo-server.ts";
import { Application, useTool } from "./sign-in-suite.ts";

/** As before RFC 8707, or as an application's own check of the resource makes it. */
class WithoutResource extends Keychain {
  validateResourceURL(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

let demo: DemoServer;
let gateways: Readonly<Record<"one" | "several", Server>>;

beforeAll(async () => {
  demo = await startDemo();
  await demo.revive();
  const alpha = { url: demo.url };
  const [one, several] = await Promise.all(
    [{ alpha }, { alpha, beta: alpha }].map((servers) => startGateway({ auth: "oauth", servers })),
  );
  if (one === undefined || several === undefined) throw new Error("Two gateways were started");
  gateways = { one, several };
});

afterAll(async () => {
  await Promise.all(Object.values(gateways ?? {}).map((gateway) => gateway.stop()));
  await demo?.remove();
});

describe.each(["one", "several"] as const)("at a gateway with %s,", (count) => {
  test.for([...SDK_V1, ...SDK_V2])(
    "$name reaches a server, and refreshes",
    async (kind, { expect, onTestFinished }) => {
      const path = `${kind.path}/alpha`;
      const keychain = new WithoutResource();
      const application = new Application(gateways[count].url, { ...kind, path }, keychain);
      onTestFinished(() => application.close());
      await useTool(await application.connect());
      expect(keychain.redirects.map((url) => url.searchParams.has("resource"))).toEqual([false]);
      keychain.spoil("access_token");
      await useTool(await application.connect());
      expect(application.wire.take()).toEqual(["register", "authorization_code", "refresh_token"]);
    },
  );
});

test("a client with access to every server has access to one server", async ({ expect }) => {
  const [kind] = SDK_V2;
  if (kind === undefined) throw new Error("There is no client");
  const whole = new Application(gateways.several.url, kind);
  const connection = await whole.connect();
  await connection.callTool("alpha__todays_tea");
  const part = new Application(
    gateways.several.url,
    { ...kind, path: "/mcp/beta" },
    whole.keychain,
  );
  await useTool(await part.connect());
  expect(whole.keychain.redirects).toHaveLength(1);
  await Promise.all([whole.close(), part.close()]);
});
