/** Access tokens that really expire, in the shortest time that can be configured. */

import { afterAll, beforeAll, describe, test } from "vitest";

import { SDK_V1 } from "../support/oauth-sdk-v1.ts";
import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { pause, until } from "../support/until.ts";
import { Application, useTool } from "./sign-in-suite.ts";

const MINUTES = 1;
const PATIENCE_MS = 80_000;

let gateway: Server;
beforeAll(async () => {
  gateway = await startGateway({ auth: "oauth", limits: { accessTokenMinutes: MINUTES } });
});
afterAll(() => gateway.stop());

async function statusFor(token: string): Promise<number> {
  const response = await fetch(`${gateway.url}/mcp`, {
    method: "DELETE",
    headers: { Authorization: `Bearer ${token}`, "Mcp-Session-Id": "unknown" },
  });
  await response.body?.cancel();
  return response.status;
}

// At once, for they do nothing but wait.
describe.concurrent("a client continues after its token has expired:", () => {
  test.for([...SDK_V1, ...SDK_V2])(
    "$name",
    { timeout: PATIENCE_MS + 20_000 },
    async (kind, { expect, onTestFinished }) => {
      const application = new Application(gateway.url, kind);
      onTestFinished(() => application.close());
      const connection = await application.connect();
      await useTool(connection);
      const token = application.keychain.kept?.access_token ?? "";
      application.wire.take();
      expect(await statusFor(token)).not.toBe(401);

      const isOver = async (): Promise<boolean> => {
        await pause(500);
        return (await statusFor(token)) === 401;
      };
      await until(isOver, "the token to expire", PATIENCE_MS);
      await useTool(connection);
      expect(application.wire.take()).toContain("refresh_token");
      expect(application.keychain.kept?.access_token).not.toBe(token);
      expect(application.keychain.redirects).toHaveLength(1);
    },
  );
});
