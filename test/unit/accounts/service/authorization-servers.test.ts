/** When the metadata of a server and of its authorization server is read, and when a copy will do. */

import { afterEach, describe, test, vi } from "vitest";

import { AuthorizationServers } from "../../../../src/accounts/service/authorization-servers.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import type { UpstreamTarget } from "../../../../src/upstream/target.ts";
import { fakeTarget } from "../../upstream/fake-target.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

const OAUTH = { kind: "oauth", oauth: { legacy: false, catalog: "user" } } as const;
const RESOURCE_METADATA = "/.well-known/oauth-protected-resource";

function world(issuers: string[], own?: UpstreamTarget) {
  let reads = 0;
  let isFailing = false;
  const fetch = async (url: URL): Promise<Response> => {
    const [issuer = ""] = issuers;
    if (url.pathname.startsWith(RESOURCE_METADATA)) {
      reads += 1;
      if (isFailing) return new Response(null, { status: 500 });
      return Response.json({
        resource: url.href.replace(RESOURCE_METADATA, ""),
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
  const discover = async (of: Server, isFresh: boolean): Promise<string> => {
    const found = await servers.discover(of, { isFresh });
    return found.kind === "found" ? found.authorizationServer.issuer : found.trouble;
  };
  const issuerOf = (isFresh: boolean): Promise<string> => discover(server, isFresh);
  /** Of a server that has the slug after an operator has changed something. */
  const discoverAt = ({ path = "/mcp", ...more }: { path?: string; issuer?: string } = {}) => {
    const { target } = server;
    const endpoint = new URL(path, target.endpoint);
    const auth = { ...OAUTH, oauth: { ...OAUTH.oauth, ...more } };
    return discover({ ...server, target: { ...target, endpoint }, auth }, false);
  };
  const fail = (isOn: boolean): void => {
    isFailing = isOn;
  };
  return { issuerOf, discoverAt, reads: () => reads, fail };
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

  test("is not that of another server, or of other settings, which had the slug before", async ({
    expect,
  }) => {
    const issuers = ["https://one.example"];
    const { discoverAt, reads } = world(issuers);
    await discoverAt();
    issuers[0] = "https://two.example";
    expect(await discoverAt({ path: "/other" })).toBe("https://two.example");
    expect(await discoverAt({ issuer: "https://two.example" })).toBe("https://two.example");
    expect(reads()).toBe(3);
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
