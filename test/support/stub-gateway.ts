/** An endpoint with an authorization server, by hand: it counts what it is asked, and fails as a test orders. */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import type { Login } from "../../cli/tokens/login-file.ts";

export interface StubGateway {
  readonly url: string;
  /** How often the tokens were renewed. */
  readonly refreshes: number;
  /** How often it refused a request for its access token. */
  readonly refusals: number;
  /** The methods of what it took, oldest first. */
  readonly taken: readonly string[];
  /** The access token that is good. */
  good: string;
  /** How it answers a request to renew, in place of renewing: with this status, as a firewall does (403), or never. */
  trouble: 400 | 403 | 500 | "silence" | undefined;
  /** The login that a person of it has, with an access token that has expired. */
  readonly login: Login;
  close(): Promise<void>;
}

export async function startStubGateway(): Promise<StubGateway> {
  let refreshes = 0;
  let refusals = 0;
  const taken: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.url === "/token") renew(response);
      else answer(request.headers.authorization, body, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function renew(response: ServerResponse): void {
    refreshes += 1;
    if (stub.trouble === "silence") return;
    if (stub.trouble !== undefined) {
      json(response, stub.trouble, stub.trouble === 403 ? {} : { error: "invalid_grant" });
      return;
    }
    stub.good = `access-${refreshes}`;
    const tokens = { access_token: stub.good, refresh_token: `refresh-${refreshes}` };
    json(response, 200, { ...tokens, token_type: "Bearer", expires_in: 3600 });
  }

  function answer(authorization: string | undefined, body: string, response: ServerResponse): void {
    if (authorization !== `Bearer ${stub.good}`) {
      refusals += 1;
      json(response, 401, {});
      return;
    }
    const { id, method } = JSON.parse(body) as { id?: unknown; method: string };
    taken.push(method);
    if (id === undefined) response.writeHead(202).end();
    else json(response, 200, { jsonrpc: "2.0", id, result: { tools: [] } });
  }

  const past = Date.now() - 3_600_000;
  const stub: StubGateway = {
    url: `${origin}/mcp`,
    get refreshes() {
      return refreshes;
    },
    get refusals() {
      return refusals;
    },
    taken,
    good: "none yet",
    trouble: undefined,
    login: {
      url: `${origin}/mcp`,
      clientId: "client",
      endpoints: {
        issuer: origin,
        authorization: `${origin}/authorize`,
        token: `${origin}/token`,
        resource: `${origin}/mcp`,
        namesIssuer: false,
      },
      tokens: { access: "access-0", refresh: "refresh-0", obtainedAt: past, expiresAt: past + 1 },
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return stub;
}

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
