/**
 * A grant that ends while it is renewed stays ended: the library reads it, asks the user's provider
 * over the network, and writes it back.
 */

import { OAuthError } from "@cloudflare/workers-oauth-provider";
import { describe, test } from "vitest";

import { Authorities, type AuthorityEnv } from "../../../../../src/auth/oauth/engine/authority.ts";
import { KvAdapter } from "../../../../../src/auth/store/kv-adapter.ts";
import { KvRows } from "../../../../../src/auth/store/kv-rows.ts";
import { Grants } from "../../../../../src/auth/oauth/grants/grants.ts";
import { defaultLimits } from "../../../../../src/policy/limits.ts";
import { newPkce, REDIRECT_URI, type Tokens } from "../../../../support/oauth-requests.ts";
import { withSql } from "../../../lib/sql-fixture.ts";

const ORIGIN = "https://gw.example.com";
const USER = "u_1";

type Form = Readonly<Record<string, string>>;

interface Fixture {
  readonly grants: Grants;
  readonly rows: KvRows;
  /** Asks for a token; while it is judged, this happens. */
  readonly ask: (form: Form, meanwhile?: () => void) => Promise<Response>;
  /** What redeems a new code of the user's. */
  readonly newCode: () => Promise<Form>;
}

const nothing = (): void => undefined;

function withLibrary<T>(act: (fixture: Fixture) => Promise<T>): Promise<T> {
  return withSql(async ({ sql }) => {
    const rows = new KvRows(sql);
    let happens = nothing;
    const engine: AuthorityEnv = {
      OAUTH_KV: new KvAdapter({
        ...{ codeSeconds: 120, unusedClientSeconds: 3600, rowsOf: () => rows },
        documentOf: () => Promise.resolve(null),
      }),
      judge: async ({ requestedScope }) => {
        await Promise.resolve();
        happens();
        return { accessTokenScope: requestedScope };
      },
    };
    const authority = new Authorities(["alpha"], defaultLimits()).at(ORIGIN);
    const helpers = authority.helpers(engine);
    const metadata = { redirectUris: [REDIRECT_URI], tokenEndpointAuthMethod: "none" };
    const { clientId } = await helpers.createClient(metadata);
    return act({
      rows,
      grants: new Grants(rows, sql),
      ask(form, meanwhile = nothing) {
        happens = meanwhile;
        const body = new URLSearchParams({ ...form, client_id: clientId });
        const request = new Request(`${ORIGIN}/token`, { method: "POST", body });
        return authority.fetch(request, engine);
      },
      async newCode() {
        const { verifier, challenge } = await newPkce();
        const { redirectTo } = await helpers.completeAuthorization({
          request: {
            ...{ responseType: "code", clientId, redirectUri: REDIRECT_URI, state: "s" },
            ...{ scope: ["mcp"], codeChallenge: challenge, codeChallengeMethod: "S256" },
            resource: `${ORIGIN}/mcp`,
          },
          ...{ userId: USER, scope: ["mcp"], props: {}, metadata: { name: "Test" } },
          revokeExistingGrants: false,
        });
        const code = new URL(redirectTo).searchParams.get("code") ?? "";
        const grant = { grant_type: "authorization_code", redirect_uri: REDIRECT_URI };
        return { ...grant, code, code_verifier: verifier };
      },
    });
  });
}

describe("a grant that ends in the middle of", () => {
  test("a refresh is not brought back by it", async ({ expect }) => {
    await withLibrary(async ({ grants, rows, ask, newCode }) => {
      const first = await (await ask(await newCode())).json<Tokens>();
      const form = { grant_type: "refresh_token", refresh_token: first.refresh_token };
      const refused = await ask(form, () => grants.revokeAll(USER));
      expect([refused.status, await refused.json()]).toMatchObject([
        400,
        { error: "invalid_grant" },
      ]);
      expect(rows.list("grant:").keys).toEqual([]);
      expect(rows.list("token:").keys).toEqual([]);
    });
  });

  test("a redemption is not brought back by it", async ({ expect }) => {
    await withLibrary(async ({ grants, rows, ask, newCode }) => {
      const refused = await ask(await newCode(), () => grants.revokeAll(USER));
      expect(refused.status).toBe(400);
      expect([...rows.list("grant:").keys, ...rows.list("token:").keys]).toEqual([]);
    });
  });
});

test("a token has to be of a grant that is there", async ({ expect }) => {
  await withSql(async ({ sql }) => {
    const rows = new KvRows(sql);
    const adapter = new KvAdapter({
      ...{ codeSeconds: 120, unusedClientSeconds: 3600, rowsOf: () => rows },
      documentOf: () => Promise.resolve(null),
    });
    const put = adapter.put("token:u_1:g:hash", "{}", { expirationTtl: 3600 });
    await expect(put).rejects.toThrow(OAuthError);
    await adapter.put("grant:u_1:g", "{}", { expirationTtl: 600 });
    await adapter.put("token:u_1:g:hash", "{}", { expirationTtl: 3600 });
    expect(rows.get("token:u_1:g:hash")).toBe("{}");
    await adapter.put("grant:u_1:g", '{"n":2}', { expiration: 2_000_000_000 });
    expect(rows.get("grant:u_1:g")).toBe('{"n":2}');
  });
});
