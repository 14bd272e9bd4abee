/** When the metadata of a server and of its authorization server is read, and when a copy will do. */

import { describe, test } from "vitest";

import { AuthorizationServers } from "../../../../src/accounts/service/authorization-servers.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

const OAUTH = { kind: "oauth", oauth: { legacy: false, catalog: "user" } } as const;

function world(issuers: string[]) {
  let reads = 0;
  const fetch = async (url: URL): Promise<Response> => {
    const [issuer = ""] = issuers;
    if (url.pathname.startsWith("/.well-known/oauth-protected-resource")) {
      reads += 1;
      return Response.json({
        resource: server.target.endpoint.href,
        authorization_servers: [issuer],
      });
    }
    if (url.pathname !== "/.well-known/oauth-authorization-server") {
      return new Response(null, { status: 404 });
    }
    return Response.json({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
      code_challenge_methods_supported: ["S256"],
    });
  };
  const server: Server = fakeServer("notes", { auth: OAUTH });
  const servers = new AuthorizationServers({
    fetch,
    ownHosts: new Set(),
    origin: "https://mcp.example.com",
    registrations: () => {
      throw new Error("Nobody registers here");
    },
  });
  const issuerOf = async (isFresh: boolean): Promise<string> => {
    const found = await servers.discover(server, { isFresh });
    return found.kind === "found" ? found.authorizationServer.issuer : found.trouble;
  };
  return { issuerOf, reads: () => reads };
}

describe("the metadata of a server", () => {
  test("is read once in an hour", async ({ expect }) => {
    const { issuerOf, reads } = world(["https://one.example"]);
    expect(await issuerOf(false)).toBe("https://one.example");
    await issuerOf(false);
    expect(reads()).toBe(1);
  });

  test("U51 is read anew where a person connects: the server may have moved a moment ago", async ({
    expect,
  }) => {
    const issuers = ["https://one.example"];
    const { issuerOf } = world(issuers);
    await issuerOf(true);
    issuers[0] = "https://two.example";
    expect(await issuerOf(false)).toBe("https://one.example");
    expect(await issuerOf(true)).toBe("https://two.example");
  });
});
