/** Malformed requests of the token endpoint, and requests of clients with a false identity. */

import { describe, test } from "vitest";

import { readCosts } from "../../src/observability/costs.ts";
import { REDIRECT_URI } from "../support/oauth-requests.ts";
import { ask, basic, newClient, newCode, statusAndError } from "./codes.ts";
import { fromElsewhere } from "./context.ts";
import { gateway, ORIGIN } from "./gateway.ts";
import { passTime } from "./clock.ts";

const CONFIDENTIAL = {
  redirect_uris: [REDIRECT_URI],
  token_endpoint_auth_method: "client_secret_basic",
};

describe("a bad token request is refused:", () => {
  test.for(["GET", "PUT", "DELETE", "HEAD"])("B69: %s", async (method, { expect }) => {
    const response = await gateway.send(`${ORIGIN}/token`, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test("B69: JSON, no content type, a multipart form", async ({ expect }) => {
    const { form } = await newCode();
    for (const type of ["application/json", "", "text/plain", "multipart/form-data; boundary=x"]) {
      const response = await ask(form, { "Content-Type": type });
      expect([type, await statusAndError(response)]).toEqual([type, [400, "invalid_request"]]);
    }
    const body = new FormData();
    for (const [name, value] of Object.entries(form)) body.append(name, value ?? "");
    const parts = await gateway.send(`${ORIGIN}/token`, { method: "POST", body });
    expect(await statusAndError(parts)).toEqual([400, "invalid_request"]);
    expect((await ask(form)).status).toBe(200);
  });

  test("B69: a parameter twice", async ({ expect }) => {
    const { form, code } = await newCode();
    const plain = new URLSearchParams(form as Record<string, string>);
    for (const twice of ["code", "client_id", "grant_type", "code_verifier", "redirect_uri"]) {
      const body = new URLSearchParams(plain);
      body.append(twice, form[twice] ?? "");
      const response = await gateway.send(`${ORIGIN}/token`, { method: "POST", body });
      expect([twice, await statusAndError(response)]).toEqual([twice, [400, "invalid_request"]]);
    }
    // Without a value it is as if it were not there.
    const body = new URLSearchParams([...plain, ["code", ""], ["scope", ""], ["scope", ""]]);
    expect(body.getAll("code")).toEqual([code, ""]);
    expect((await gateway.send(`${ORIGIN}/token`, { method: "POST", body })).status).toBe(200);
  });

  test("two resources", async ({ expect }) => {
    const { form } = await newCode();
    const body = new URLSearchParams(form as Record<string, string>);
    body.append("resource", `${ORIGIN}/mcp`);
    body.append("resource", `${ORIGIN}/mcp/alpha`);
    const response = await gateway.send(`${ORIGIN}/token`, { method: "POST", body });
    expect(await statusAndError(response)).toEqual([400, "invalid_target"]);
  });

  test("B69: 17 KB, declared or not", async ({ expect }) => {
    const { form } = await newCode();
    expect(await statusAndError(await ask({ ...form, extra: "x".repeat(17_000) }))).toEqual([
      ...[413, "invalid_request"],
    ]);
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const body = new Response("x".repeat(17_000)).body;
    const streamed = await gateway.send(`${ORIGIN}/token`, { method: "POST", headers, body });
    expect(streamed.status).toBe(413);
  });

  test("B69: parameters in the URL", async ({ expect }) => {
    const { form } = await newCode();
    const query = new URLSearchParams(form as Record<string, string>);
    for (const url of [`${ORIGIN}/token?${query.toString()}`, `${ORIGIN}/token?client_secret=x`]) {
      const headers = { "Content-Type": "application/x-www-form-urlencoded" };
      const response = await gateway.send(url, { method: "POST", headers, body: "" });
      expect(await statusAndError(response)).toEqual([400, "invalid_request"]);
    }
    expect((await ask(form)).status).toBe(200);
  });

  test.for([
    ["password", "unsupported_grant_type"],
    ["urn:ietf:params:oauth:grant-type:token-exchange", "unsupported_grant_type"],
    ["urn:ietf:params:oauth:grant-type:jwt-bearer", "unsupported_grant_type"],
    ["constructor", "unsupported_grant_type"],
    ["", "unsupported_grant_type"],
    ["client_credentials", "unauthorized_client"],
  ])("B69b, B93: the grant type %j", async ([grant_type, error], { expect }) => {
    const { form } = await newCode();
    const { code, ...rest } = form as Record<string, string>;
    expect(await statusAndError(await ask({ ...rest, grant_type, code }))).toEqual([400, error]);
  });

  test.for(["", "x", "a:b", "a:b:c", ":x:y", "::", "a:b:c:d", "%00", "u_1:../../x:y", "\u202e"])(
    "an invalid code: %j",
    async (code, { expect }) => {
      const { form } = await newCode();
      const [status, error] = await statusAndError(await ask({ ...form, code }));
      expect(status).toBe(400);
      expect(error).toBe(code === "" ? "invalid_request" : "invalid_grant");
    },
  );

  test("made-up tokens for a resource that does not exist, of which the registry hears nothing", async ({
    expect,
  }) => {
    const { client_id } = await newClient();
    const before = readCosts().renewals;
    for (let n = 0; n < 50; n++) {
      const refresh_token = `u_made-up:${"g".repeat(16)}:${String(n).padStart(32, "x")}`;
      const form = { grant_type: "refresh_token", client_id, refresh_token };
      const answer = await ask({ ...form, resource: "https://a.example/" });
      expect(await statusAndError(answer)).toEqual([400, "invalid_target"]);
    }
    // The clock may be the reason for one.
    expect(readCosts().renewals - before).toBeLessThan(3);
  });

  test("invalid client ids", async ({ expect }) => {
    const { form } = await newCode();
    for (const client_id of [":x", "client:x", "a b", "x\ny", "x".repeat(600), "__proto__", "é"]) {
      const [status] = await statusAndError(await ask({ ...form, client_id }));
      expect([client_id, status]).toEqual([
        client_id,
        /^[\x21-\x7e]{1,512}$/.test(client_id) ? 401 : 400,
      ]);
    }
  });
});

describe("the client of a request is checked:", () => {
  test("B69a: an unknown client, and none", async ({ expect }) => {
    const { form } = await newCode();
    for (const client_id of ["nobody0123456789", undefined]) {
      expect(await statusAndError(await ask({ ...form, client_id }))).toEqual([
        401,
        "invalid_client",
      ]);
    }
  });

  test("B69a: a client with a secret, without it and with a wrong one", async ({ expect }) => {
    const { client_id: id, client_secret: secret } = await newClient(CONFIDENTIAL);
    const { form } = await newCode({ client: id });
    const bare = { ...form, client_id: undefined };
    expect(await statusAndError(await ask(form))).toEqual([401, "invalid_client"]);
    const wrong = await ask(bare, basic(id, "wrong"));
    expect(wrong.headers.get("www-authenticate")).toMatch(/^Basic /);
    expect(await statusAndError(wrong)).toEqual([401, "invalid_client"]);
    const broken = await ask(bare, { Authorization: "Basic !" });
    expect(await statusAndError(broken)).toEqual([401, "invalid_client"]);
    const both = await ask({ ...bare, client_secret: secret }, basic(id, secret));
    expect(await statusAndError(both)).toEqual([400, "invalid_request"]);
    // Repeating the id beside the header says nothing new.
    expect((await ask(form, basic(id, secret))).status).toBe(200);
  });

  test("a header that is no client authentication is ignored", async ({ expect }) => {
    const { form } = await newCode();
    expect((await ask(form, { Authorization: "Bearer x" })).status).toBe(200);
  });

  test("100 wrong secrets make only that client wait", async ({ expect }) => {
    const { client_id: id, client_secret: secret } = await newClient(CONFIDENTIAL);
    const { form } = await newCode({ client: id });
    const other = await newCode();
    const address = fromElsewhere();
    const bare = { ...form, client_id: undefined };
    const statuses: number[] = [];
    passTime(0); // the clock stands: with time, a client may try again
    for (let n = 0; n < 100; n++) {
      statuses.push((await ask(bare, { ...address, ...basic(id, `wrong${n}`) })).status);
    }
    expect(statuses).toEqual([...Array<number>(60).fill(401), ...Array<number>(40).fill(429)]);
    const refused = await ask(bare, { ...address, ...basic(id, secret) });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await statusAndError(refused)).toEqual([429, "temporarily_unavailable"]);
    // A neighbour that asks rightly, and the same client elsewhere.
    expect((await ask(other.form, address)).status).toBe(200);
    expect((await ask(bare, basic(id, secret))).status).toBe(200);
  });
});
