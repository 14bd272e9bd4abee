/** When the metadata of a server and of its authorization server is read, and when a copy will do. */

import { afterEach, describe, test, vi } from "vitest";

import { AuthorizationServers } from "../../../../src/accounts/service/authorization-servers.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import type { UpstreamTarget } from "../../../../src/upstream/target.ts";
import { fakeTarget } from "../../upstream/fake-target.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

const OAUTH = { kind: "oauth", oauth: { legacy: false, catalog: "user" } } as const;

function world(issuers: string[], own?: UpstreamTarget) {
  let reads = 0;
  let isFailing = false;
  const fetch = async (url: URL): Promise<Response> => {
    const [issuer = ""] = issuers;
    if (url.pathname.startsWith("/.well-known/oauth-protected-resource")) {
      reads += 1;
      if (isFailing) return new Response(null, { status: 500 });
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
  const server: Server = fakeServer("notes", {
    auth: OAUTH,
    ...(own !== undefined && { target: own }),
  });
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
  const fail = (isOn: boolean): void => {
    isFailing = isOn;
  };
  return { issuerOf, reads: () => reads, fail };
}

afterEach(() => {
  vi.useRealTimers();
});

describe("the metadata of a server", () => {
  test("U3 that failed is asked for again after a minute, and not for each page", async ({
    expect,
  }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { issuerOf, reads, fail } = world(["https://one.example"]);
    fail(true);
    expect(await issuerOf(true)).toBe("server-unreachable");
    fail(false);
    vi.setSystemTime(Date.now() + 59_999);
    expect(await issuerOf(true)).toBe("server-unreachable");
    expect(reads()).toBe(1);
    vi.setSystemTime(Date.now() + 1);
    expect(await issuerOf(true)).toBe("https://one.example");
  });

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

  test("is read though the server itself does not answer, and no timer is left of it", async ({
    expect,
  }) => {
    vi.useFakeTimers();
    try {
      let given: AbortSignal | null | undefined;
      const silent: UpstreamTarget = {
        ...fakeTarget(() => new Response(), { slug: "notes" }),
        fetch: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            given = signal;
            signal?.addEventListener("abort", () => reject(new Error("Given up")));
          }),
      };
      const reading = world(["https://one.example"], silent).issuerOf(false);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(given?.aborted).toBe(true);
      expect(await reading).toBe("https://one.example");
      expect(await world(["https://one.example"]).issuerOf(false)).toBe("https://one.example");
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
