/** Tokens of clients whose id is the address of a document: who has to sign, and who is asked. */

import { describe, type ExpectStatic, test } from "vitest";

import type { DocumentOutcome } from "../../src/auth/clients/client-documents.ts";
import type { AuthShard } from "../../src/auth/context/auth-store.ts";
import { token } from "../../src/auth/oauth/endpoints/token.ts";
import type { LoginStep } from "../../src/auth/trace/trace.ts";
import { type Parameters, REDIRECT_URI, tokensIn } from "../support/oauth-requests.ts";
import { hitsAt, newHost, serveAt, serveJsonAt } from "./canary.ts";
import {
  ask,
  basic,
  type Code,
  connect,
  isGood,
  newClient,
  newCode,
  refreshing,
  statusAndError,
} from "./codes.ts";
import { DAY, passTime, SECOND } from "./clock.ts";
import { newContext } from "./context.ts";
import { ORIGIN } from "./gateway.ts";
import { newOwner } from "./owners.ts";
import { Signer } from "./signing.ts";

const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

interface DocumentClient {
  readonly host: string;
  readonly id: string;
}

function serveDocument(id: string, metadata: object = {}): Promise<void> {
  return serveJsonAt(id, {
    ...{ client_id: id, client_name: "Documented", redirect_uris: [REDIRECT_URI] },
    ...metadata,
  });
}

async function newDocumentClient(metadata: object = {}): Promise<DocumentClient> {
  const host = newHost();
  const id = `https://${host}/client.json`;
  await serveDocument(id, metadata);
  return { host, id };
}

/** A client that has to sign, or may do without. */
async function newSigningClient(
  ...methods: readonly string[]
): Promise<DocumentClient & { readonly signer: Signer }> {
  const signer = await Signer.make();
  const client = await newDocumentClient({
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_methods_supported: ["private_key_jwt", ...methods],
    jwks: signer.jwks,
  });
  return { ...client, signer };
}

const REFUSED = [401, "invalid_client"];

/** To a 401, clients answer by deleting their tokens. */
async function mustComeBack(expect: ExpectStatic, form: Parameters): Promise<void> {
  const response = await ask(form);
  expect(response.headers.get("retry-after")).toBe("60");
  expect(await statusAndError(response)).toEqual([503, "temporarily_unavailable"]);
}

describe("a public client with a document", () => {
  test("gets, refreshes and revokes its tokens, and its document is loaded once", async ({
    expect,
  }) => {
    const { id, host } = await newDocumentClient();
    const application = await connect({ client: id });
    const { refresh_token } = application.tokens;
    const refreshed = await tokensIn(await ask(refreshing(application, refresh_token)));
    expect(await isGood(refreshed.access_token)).toBe(true);
    expect((await ask({ client_id: id, token: refreshed.refresh_token })).status).toBe(200);
    expect(await isGood(refreshed.access_token)).toBe(false);
    expect(await hitsAt(host)).toHaveLength(1);
  });

  test("has no secret", async ({ expect }) => {
    const { id } = await newDocumentClient();
    const { form } = await newCode({ client: id });
    expect(await statusAndError(await ask({ ...form, client_secret: "x" }))).toEqual(REFUSED);
    const refused = await ask({ ...form, client_id: undefined }, basic(id, "x"));
    // RFC 6749 section 5.2: MUST be there when the client used HTTP authentication.
    expect(refused.headers.get("www-authenticate")).toMatch(/^Basic /);
    expect(await statusAndError(refused)).toEqual(REFUSED);
    expect((await ask(form)).status).toBe(200);
  });

  test("does not sign, so a signed request is one of another client", async ({ expect }) => {
    const { id } = await newDocumentClient();
    const { form } = await newCode({ client: id });
    const signed = await (await Signer.make()).parameters(id);
    expect(await statusAndError(await ask({ ...form, ...signed }))).toEqual(REFUSED);
    expect((await ask(form)).status).toBe(200);
  });

  test("whose document was removed gets no more tokens", async ({ expect }) => {
    const { id } = await newDocumentClient();
    const application = await connect({ client: id });
    await serveJsonAt(id, { client_id: "https://elsewhere.client.example/x" });
    passTime(DAY);
    const form = refreshing(application, application.tokens.refresh_token);
    expect(await statusAndError(await ask(form))).toEqual(REFUSED);
    const inHeader = await ask({ ...form, client_id: undefined }, basic(id, "x"));
    expect(inHeader.headers.get("www-authenticate")).toMatch(/^Basic /);
    expect(await statusAndError(inHeader)).toEqual(REFUSED);
  });

  test("whose document is unavailable for a while still gets tokens", async ({ expect }) => {
    const { id } = await newDocumentClient();
    const application = await connect({ client: id });
    await serveAt(id, { status: 503 });
    passTime(DAY);
    const form = refreshing(application, application.tokens.refresh_token);
    expect((await ask(form)).status).toBe(200);
  });

  test("B57b: whose document is unavailable for longer is asked to come back, and keeps its tokens", async ({
    expect,
  }) => {
    const { id } = await newDocumentClient();
    const application = await connect({ client: id });
    const form = refreshing(application, application.tokens.refresh_token);
    await serveAt(id, { status: 503 });
    passTime(8 * DAY);
    await mustComeBack(expect, form);
    await mustComeBack(expect, { client_id: id, token: application.tokens.refresh_token });
    await serveDocument(id);
    passTime(MINUTE);
    expect((await ask(form)).status).toBe(200);
  });
});

const busy = (): Promise<DocumentOutcome> =>
  Promise.resolve({ kind: "busy", retryAfterSeconds: 60 });

test("a client whose document may not be asked for just now has to wait", async ({ expect }) => {
  const { id } = await newDocumentClient();
  const { form } = await newCode({ client: id });
  const steps: LoginStep[] = [];
  const context = newContext({ steps });
  const { store } = context;
  const documents = { load: busy, find: () => store.ofDocument(id).documents.find(id) };
  const ofDocument = (): AuthShard => ({ ...store.ofDocument(id), documents });
  const body = new URLSearchParams(form as Record<string, string>);
  const request = new Request(`${ORIGIN}/token`, { method: "POST", body });
  const response = await token({ ...context, store: { ...store, ofDocument } }, request);
  expect(response.headers.get("retry-after")).toBe("60");
  expect(await statusAndError(response)).toEqual([429, "temporarily_unavailable"]);
  expect(steps).toMatchObject([{ kind: "token_refused", reason: "document" }]);
});

describe("a client that has to sign", () => {
  test("signs each request anew", async ({ expect }) => {
    const { id, signer } = await newSigningClient();
    const { form } = await newCode({ client: id });
    const tokens = await tokensIn(await ask({ ...form, ...(await signer.parameters(id)) }));
    const refresh = refreshing({ client: id }, tokens.refresh_token);
    const twice = [await signer.parameters(id), await signer.parameters(id)];
    const answers = await Promise.all(twice.map((signed) => ask({ ...refresh, ...signed })));
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    // Who it is was proved twice; the answer is the one of the window.
    expect([answers.map(({ status }) => status), new Set(bodies).size]).toEqual([[200, 200], 1]);
    const revocation = { token: tokens.access_token, client_id: id };
    expect(await statusAndError(await ask(revocation))).toEqual(REFUSED);
    await ask({ ...revocation, ...(await signer.parameters(id)) });
    expect(await isGood(tokens.access_token)).toBe(false);
  });

  test("need not send its id beside the assertion", async ({ expect }) => {
    const { id, signer } = await newSigningClient();
    const { form } = await newCode({ client: id });
    const bare = { ...form, client_id: undefined };
    expect((await ask({ ...bare, ...(await signer.parameters(id)) })).status).toBe(200);
  });

  test("is refused without a signature, and its code stays valid", async ({ expect }) => {
    const { id, signer } = await newSigningClient();
    const { form } = await newCode({ client: id });
    const other = await Signer.make();
    const wrong: Record<string, object> = {
      nothing: {},
      "another key": await other.parameters(id),
      "another audience": await signer.parameters(id, { aud: "https://a.example" }),
      "an old one": await signer.parameters(id, { lasts: -120 }),
      "one for an hour": await signer.parameters(id, { lasts: 3600 }),
      "another client's": await signer.parameters("https://other.client.example/x"),
      "another type": { ...(await signer.parameters(id)), client_assertion_type: "x" },
      "no type": { ...(await signer.parameters(id)), client_assertion_type: undefined },
      "a secret beside": { ...(await signer.parameters(id)), client_secret: "x" },
    };
    for (const [name, parameters] of Object.entries(wrong)) {
      expect([name, await statusAndError(await ask({ ...form, ...parameters }))]).toEqual([
        name,
        REFUSED,
      ]);
    }
    expect((await ask({ ...form, ...(await signer.parameters(id)) })).status).toBe(200);
  });

  test("can use an assertion once, also in parallel", async ({ expect }) => {
    const { id, signer } = await newSigningClient();
    const { form } = await newCode({ client: id });
    const tokens = await tokensIn(await ask({ ...form, ...(await signer.parameters(id)) }));
    const signed = await signer.parameters(id);
    const refresh = { ...refreshing({ client: id }, tokens.refresh_token), ...signed };
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(refresh)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array<number>(7).fill(401)]);
  });

  test("B57b: whose keys are unavailable for a while is asked to come back, and keeps its tokens", async ({
    expect,
  }) => {
    const signer = await Signer.make();
    const jwks_uri = `https://${newHost()}/jwks.json`;
    await serveJsonAt(jwks_uri, signer.jwks);
    const { id } = await newDocumentClient({
      ...{ token_endpoint_auth_method: "private_key_jwt", jwks_uri },
    });
    const { form } = await newCode({ client: id });
    const tokens = await tokensIn(await ask({ ...form, ...(await signer.parameters(id)) }));
    const refresh = refreshing({ client: id }, tokens.refresh_token);
    await serveAt(jwks_uri, { status: 503 });
    passTime(HOUR);
    await mustComeBack(expect, { ...refresh, ...(await signer.parameters(id)) });
    await serveJsonAt(jwks_uri, signer.jwks);
    await mustComeBack(expect, { ...refresh, ...(await signer.parameters(id)) });
    passTime(MINUTE);
    expect((await ask({ ...refresh, ...(await signer.parameters(id)) })).status).toBe(200);
  });

  test("may omit the signature when its document lists `none` too", async ({ expect }) => {
    const { id, signer } = await newSigningClient("none");
    const [one, other] = [await newCode({ client: id }), await newCode({ client: id })];
    expect((await ask(one.form)).status).toBe(200);
    const wrong = await (await Signer.make()).parameters(id);
    expect(await statusAndError(await ask({ ...other.form, ...wrong }))).toEqual(REFUSED);
    expect((await ask({ ...other.form, ...(await signer.parameters(id)) })).status).toBe(200);
  });
});

const CODE = `u_abc:${"g".repeat(16)}:${"x".repeat(32)}`;

function form(client: string, code: string): Code["form"] {
  return {
    ...{ grant_type: "authorization_code", client_id: client, code, redirect_uri: REDIRECT_URI },
    code_verifier: "v".repeat(43),
  };
}

describe("a document address that anyone can name", () => {
  test("B57a: is not requested for a code that does not exist", async ({ expect }) => {
    const { id, host } = await newDocumentClient();
    for (const code of [CODE, "bogus", "a:b:c"]) {
      expect(await statusAndError(await ask(form(id, code)))).toEqual([400, "invalid_grant"]);
    }
    expect(await statusAndError(await ask(refreshing({ client: id }, CODE)))).toEqual([
      400,
      "invalid_grant",
    ]);
    expect(await hitsAt(host)).toEqual([]);
  });

  test("B57a: is not requested for a code of another client, or with an assertion", async ({
    expect,
  }) => {
    const { id, host, signer } = await newSigningClient();
    const person = await newOwner();
    const theirs = await connect({ person });
    const pending = await newCode({ person, client: (await newClient()).client_id });
    const signed = await signer.parameters(id);
    for (const asked of [
      { ...pending.form, client_id: id },
      { ...pending.form, client_id: id, ...signed },
      { ...pending.form, client_id: undefined, ...signed },
      refreshing({ client: id }, theirs.tokens.refresh_token),
    ]) {
      expect(await statusAndError(await ask(asked))).toEqual([400, "invalid_grant"]);
    }
    expect((await ask({ client_id: id, token: theirs.tokens.access_token })).status).toBe(200);
    expect((await ask({ client_id: id, token: "x" })).status).toBe(200);
    expect(await hitsAt(host)).toEqual([]);
    expect(await isGood(theirs.tokens.access_token)).toBe(true);
    expect((await ask(pending.form)).status).toBe(200);
  });

  test.for([
    ["client_credentials", "unauthorized_client"],
    ["password", "unsupported_grant_type"],
    ["urn:ietf:params:oauth:grant-type:jwt-bearer", "unsupported_grant_type"],
    [undefined, "unsupported_grant_type"],
  ])("is not requested for the grant type %s", async ([grant_type, error], { expect }) => {
    const { id, host } = await newDocumentClient();
    const { code: _, ...rest } = form(id, CODE) as Record<string, string>;
    expect(await statusAndError(await ask({ ...rest, grant_type }))).toEqual([400, error]);
    expect(await hitsAt(host)).toEqual([]);
  });

  test.for([
    `${ORIGIN}/mcp`,
    "https://127.0.0.1/x",
    "https://localhost/x",
    "https://u@a.client.example/x",
    "https://a.client.example/",
  ])("is not requested, whatever the address: %s", async (id, { expect }) => {
    expect(await statusAndError(await ask(form(id, CODE)))).toEqual([400, "invalid_grant"]);
  });
});
