/** From the address of a server to its authorization server, and every document that leads elsewhere. */

import { describe, test } from "vitest";

import {
  discover,
  type DiscoveryRequest,
  isNamed,
} from "../../../../src/accounts/discovery/discover.ts";
import { egressPolicyFor } from "../../../../src/accounts/discovery/load-metadata.ts";

const ENDPOINT = "https://s.example/mcp";
const PRM = "https://s.example/.well-known/oauth-protected-resource";
const AS = "https://as.example/.well-known/oauth-authorization-server";

const resource = (more: object = {}) => ({
  resource: ENDPOINT,
  authorization_servers: ["https://as.example"],
  ...more,
});

const server = (more: object = {}, issuer = "https://as.example") => ({
  issuer,
  authorization_endpoint: "https://as.example/authorize",
  token_endpoint: "https://as.example/token",
  code_challenge_methods_supported: ["S256"],
  ...more,
});

/** A page that is not JSON by its header. */
interface Typed {
  readonly text: string;
  readonly type: string;
}

type Pages = Readonly<Record<string, object | string | number>>;

async function run(
  pages: Pages,
  more: Partial<DiscoveryRequest["settings"]> = {},
  request: Partial<DiscoveryRequest> = {},
) {
  const seen: string[] = [];
  const endpoint = request.endpoint ?? new URL(ENDPOINT);
  const settings = { legacy: false, catalog: "user", ...more } as const;
  const fetch = async (url: URL): Promise<Response> => {
    seen.push(url.href);
    const page = pages[url.href] ?? 404;
    if (typeof page === "number") {
      return new Response(null, { status: page, headers: { Location: "https://other.example/" } });
    }
    if (typeof page === "object" && "type" in page) {
      const { text, type } = page as Typed;
      return new Response(text, { headers: { "Content-Type": type } });
    }
    const body = typeof page === "string" ? page : JSON.stringify(page);
    return new Response(body, { headers: { "Content-Type": "application/json" } });
  };
  const policy = egressPolicyFor(endpoint, settings, new Set(["gateway.example"]));
  const found = await discover(
    { grant: "authorization_code", endpoint, settings, ...request },
    { fetch, policy },
  );
  const verdict = found.kind === "found" ? found.authorizationServer.issuer : found.trouble;
  return { found, verdict, seen };
}

const usual = (document: object = server()): Pages => ({
  [`${PRM}/mcp`]: resource(),
  [AS]: document,
});

describe("discover()", () => {
  test.for([
    "http://169.254.169.254/x",
    "https://localhost/x",
    "https://10.0.0.1/x",
    "/relative",
    "https://gateway.example/x",
  ])("U2 does not ask %s, which a challenge names", async (address, { expect }) => {
    const { verdict, seen } = await run({}, {}, { challenge: { resourceMetadata: address } });
    expect([verdict, seen]).toEqual(["no-metadata", [`${PRM}/mcp`, PRM]]);
  });

  test("U2 follows no redirect, and asks no other address than the challenge's", async ({
    expect,
  }) => {
    const address = "https://s.example/meta";
    const request = { challenge: { resourceMetadata: address } };
    const { verdict, seen } = await run({ [address]: 302 }, {}, request);
    expect([verdict, seen]).toEqual(["no-metadata", [address]]);
  });

  test.for([
    [404, "no-metadata", 2],
    [500, "server-unreachable", 1],
  ] as const)("U3 guesses nothing after %i", async ([status, trouble, count], { expect }) => {
    const { verdict, seen } = await run({ [`${PRM}/mcp`]: status }, { legacy: status === 500 });
    expect([verdict, seen.length]).toEqual([trouble, count]);
  });

  test.for([
    "https://s.example/other",
    "https://s.example/mc",
    "https://s.example/mcp2",
    "https://s.example/mcp/../x",
    "https://s.example/%2e%2E/mcp",
    "https://s.example:8443/mcp",
    "http://s.example/mcp",
    "https://s.example.evil.example/mcp",
    "https://s.example/mcp#x",
    "https://s.example/mcp/part",
  ])("U4 refuses metadata of %s", async (other, { expect }) => {
    const { verdict, seen } = await run({
      [`${PRM}/mcp`]: resource({ resource: other }),
      [AS]: server(),
    });
    expect([verdict, seen]).toEqual(["other-resource", [`${PRM}/mcp`]]);
  });

  test.for([ENDPOINT, `${ENDPOINT}/`, "https://s.example", "HTTPS://S.EXAMPLE:443/mcp"])(
    "U5 sends %s as it is written",
    async (spelling, { expect }) => {
      const { found } = await run({ ...usual(), [`${PRM}/mcp`]: resource({ resource: spelling }) });
      expect(found).toMatchObject({ kind: "found", resource: spelling });
    },
  );

  test.for(["https://as.example/t", "https://AS.example", "https://as.example/", undefined])(
    "U6 refuses a document of the issuer %s",
    async (issuer, { expect }) => {
      expect((await run(usual({ ...server(), issuer }))).verdict).toBe("other-issuer");
    },
  );

  test("U7 takes one slash more in the list, and keeps the document's spelling", async ({
    expect,
  }) => {
    const listed = resource({ authorization_servers: ["https://as.example/"] });
    const { verdict, found } = await run({ ...usual(), [`${PRM}/mcp`]: listed });
    expect(verdict).toBe("https://as.example");
    expect(isNamed("https://as.example", found.issuers ?? [])).toBe(true);
    expect(isNamed("https://as.example//", found.issuers ?? [])).toBe(false);
  });

  test("U8 an operator's issuer is what the document has to say", async ({ expect }) => {
    const listed = resource({ authorization_servers: ["https://as.example/tenant"] });
    const pages = { [`${PRM}/mcp`]: listed, [`${AS}/tenant`]: server() };
    expect((await run(pages)).verdict).toBe("other-issuer");
    expect((await run(pages, { issuer: "https://as.example" })).verdict).toBe("https://as.example");
    expect((await run(usual(), { issuer: "https://pinned.example" })).verdict).toBe("not-pinned");
  });

  test("U9 wants S256, unless the operator knows of it", async ({ expect }) => {
    const [none, plain] = [undefined, ["plain"]];
    expect((await run(usual(server({ code_challenge_methods_supported: none })))).verdict).toBe(
      "no-pkce",
    );
    expect((await run(usual(server({ code_challenge_methods_supported: plain })))).verdict).toBe(
      "no-pkce",
    );
    const assumed = await run(usual(server({ code_challenge_methods_supported: none })), {
      pkce: "assume",
    });
    expect(assumed.verdict).toBe("https://as.example");
  });

  test.for([
    { authorization_endpoint: "javascript:alert(1)//" },
    { authorization_endpoint: "data:text/html,x" },
    { authorization_endpoint: "http://as.example/authorize" },
    { authorization_endpoint: "https://u:p@as.example/authorize" },
    { authorization_endpoint: "https://as.example/authorize#x" },
    { token_endpoint: "http://as.example/token" },
    { token_endpoint: "https://169.254.169.254/token" },
    { token_endpoint: undefined },
  ])("U10 refuses %j", async (more, { expect }) => {
    expect((await run(usual(server(more)))).verdict).toBe("unsafe-endpoint");
  });

  test.for([
    JSON.stringify(server({ x: "x".repeat(65_536) })),
    JSON.stringify(server({ scopes_supported: Array.from({ length: 10_000 }, (_, i) => `s${i}`) })),
    `{"issuer":${"[".repeat(1000)}${"]".repeat(1000)}}`,
    "[]",
    "null",
    "<html>",
  ])("U11 refuses a document that is too large, too deep or none", async (text, { expect }) => {
    expect((await run({ ...usual(), [AS]: text })).verdict).toBe("bad-issuer-metadata");
  });

  test("U11 refuses a document of another media type", async ({ expect }) => {
    const page = { text: JSON.stringify(server()), type: "text/html" };
    const { verdict } = await run({ ...usual(), [AS]: page });
    expect(verdict).toBe("bad-issuer-metadata");
  });

  test("U11 takes the good one of two authorization servers, and none of none", async ({
    expect,
  }) => {
    const bad = "https://bad.example";
    const two = resource({ authorization_servers: [bad, "https://as.example"] });
    expect((await run({ ...usual(), [`${PRM}/mcp`]: two })).verdict).toBe("https://as.example");
    for (const servers of [[], undefined, "https://as.example"]) {
      const none = resource({ authorization_servers: servers });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await run({ ...usual(), [`${PRM}/mcp`]: none })).verdict).toBe("bad-metadata");
    }
  });

  test("asks the addresses of an issuer with a path, and never the origin's", async ({
    expect,
  }) => {
    const listed = resource({ authorization_servers: ["https://as.example/t"] });
    const { verdict, seen } = await run({ [`${PRM}/mcp`]: listed, [AS]: server() });
    expect(verdict).toBe("bad-issuer-metadata");
    expect(seen.slice(1)).toEqual([
      `${AS}/t`,
      "https://as.example/.well-known/openid-configuration/t",
      "https://as.example/t/.well-known/openid-configuration",
    ]);
  });

  test("takes a server on this machine for a server on this machine only", async ({ expect }) => {
    const local = "http://localhost:9000";
    const listed = { resource: local, authorization_servers: ["http://127.0.0.1:9001"] };
    const document = server(
      {
        authorization_endpoint: "http://127.0.0.1:9001/a",
        token_endpoint: "http://127.0.0.1:9001/t",
      },
      "http://127.0.0.1:9001",
    );
    const at = "http://127.0.0.1:9001/.well-known/oauth-authorization-server";
    const pages = { [`${local}/.well-known/oauth-protected-resource`]: listed, [at]: document };
    const ours = await run(pages, {}, { endpoint: new URL(`${local}/`) });
    expect(ours.verdict).toBe("http://127.0.0.1:9001");
    const theirs = await run({ ...pages, [PRM]: { ...listed, resource: "https://s.example" } });
    expect([theirs.verdict, theirs.seen.includes(at)]).toEqual(["bad-issuer-metadata", false]);
  });
});
