/** The checks of an authorization request before the library reads it. */

import { describe, test } from "vitest";

import {
  type AuthorizeReading,
  readAuthorizeRequest,
} from "../../../../../src/auth/oauth/endpoints/authorization-request.ts";
import { isKnownRedirect } from "../../../../../src/auth/clients/redirect-uris.ts";

const ORIGIN = "https://gw.example.com";
const BASE = {
  response_type: "code",
  client_id: "client",
  redirect_uri: "http://127.0.0.1:9/cb",
  code_challenge: "a".repeat(43),
  code_challenge_method: "S256",
  state: "st",
};

type Changes = Readonly<Record<string, string | undefined>>;

function read(changes: Changes = {}, more = "", origin = ORIGIN): AuthorizeReading {
  const given = Object.entries({ ...BASE, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const query = new URLSearchParams(given).toString() + more;
  return readAuthorizeRequest(new Request(`https://inside.example/authorize?${query}`), origin);
}

function readable(changes: Changes = {}, more = ""): Extract<AuthorizeReading, { kind: "read" }> {
  const reading = read(changes, more);
  if (reading.kind !== "read") throw new Error(reading.sentence);
  return reading;
}

const queryOf = ({ request }: { readonly request: Request }) => new URL(request.url).searchParams;

test("a request comes to the library as it was meant, at the issuer's own address", ({
  expect,
}) => {
  const reading = readable({ resource: `${ORIGIN}/`, scope: "mcp a:b", state: "a+b %&\u00e9" });
  expect(new URL(reading.request.url).origin + new URL(reading.request.url).pathname).toBe(
    `${ORIGIN}/authorize`,
  );
  expect(Object.fromEntries(queryOf(reading))).toEqual({
    ...{ ...BASE, resource: `${ORIGIN}/mcp`, scope: "mcp a:b", state: "a+b %&\u00e9" },
  });
  expect(reading).toMatchObject({
    ...{ clientId: "client", redirectUri: BASE.redirect_uri, state: "a+b %&\u00e9" },
    ...{ objection: undefined, asksForConsent: false, asksForLogin: false },
  });
});

test("a parameter without a value counts as absent", ({ expect }) => {
  const reading = readable({ resource: "", state: "", request: "", prompt: "", response_mode: "" });
  expect([...queryOf(reading).keys()].toSorted()).toEqual(
    Object.keys(BASE)
      .filter((name) => name !== "state")
      .toSorted(),
  );
  expect(reading).toMatchObject({ state: "", objection: undefined });
});

describe("only the person gets the error when", () => {
  test.for(Object.keys(BASE))("the parameter %s is there twice", (name, { expect }) => {
    expect(read({}, `&${name}=x`)).toMatchObject({ kind: "unreadable", status: 400 });
    expect(read({}, `&${name}=`)).toMatchObject({ kind: "unreadable", status: 400 });
  });

  test.for<Changes>([
    { client_id: undefined },
    { client_id: "" },
    { client_id: "a\nb" },
    { client_id: "a b" },
    { client_id: "\u202ea" },
    { client_id: "a".repeat(513) },
    { redirect_uri: undefined },
    { redirect_uri: "" },
    { redirect_uri: "http://a.example/cb" },
    { redirect_uri: "https://a.example/cb#x" },
    { redirect_uri: "https://a.example/cb\n" },
    { redirect_uri: " https://a.example/cb" },
    { redirect_uri: "https://a\\@b.example/cb" },
    { redirect_uri: "https://u@a.example/cb" },
    { redirect_uri: "javascript:alert(1)" },
    { redirect_uri: "com.app:/cb" },
    { redirect_uri: "/cb" },
  ])("%j", (changes, { expect }) => {
    expect(read(changes)).toMatchObject({ kind: "unreadable", status: 400 });
  });

  test("the query is longer than 8 KB", ({ expect }) => {
    expect(read({ state: "x".repeat(8000) }).kind).toBe("read");
    expect(read({ state: "x".repeat(8192) })).toMatchObject({ kind: "unreadable", status: 414 });
  });

  test("no sentence repeats what was sent", ({ expect }) => {
    const reading = read({ client_id: "forged line\n[ERROR]" });
    expect(JSON.stringify(reading)).not.toContain("forged");
  });
});

describe("the application is answered", () => {
  test.for<readonly [Changes, string]>([
    [{ request: "x" }, "request_not_supported"],
    [{ request_uri: "x" }, "request_uri_not_supported"],
    [{ response_mode: "fragment" }, "invalid_request"],
    [{ response_mode: "form_post" }, "invalid_request"],
    [{ prompt: "none" }, "interaction_required"],
    [{ prompt: "login none" }, "interaction_required"],
    [{ code_challenge: undefined }, "invalid_request"],
    [{ code_challenge: "a".repeat(42) }, "invalid_request"],
    [{ code_challenge: "a".repeat(44) }, "invalid_request"],
    [{ code_challenge: `${"a".repeat(42)}=` }, "invalid_request"],
    [{ code_challenge_method: undefined }, "invalid_request"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ code_challenge_method: "s256" }, "invalid_request"],
  ])("%j: %s", ([changes, code], { expect }) => {
    expect(readable(changes).objection?.code).toBe(code);
  });

  test("two resources, also when they mean the same", ({ expect }) => {
    const twice = `&resource=${encodeURIComponent(`${ORIGIN}/mcp`)}`.repeat(2);
    expect(readable({}, twice).objection?.code).toBe("invalid_target");
  });

  test("but not for a request that is served", ({ expect }) => {
    for (const changes of [{ response_mode: "query" }, { prompt: "consent" }, { nonce: "x" }]) {
      expect(readable(changes).objection).toBeUndefined();
    }
  });
});

test("a question that the person is asked, whatever they answered before", ({ expect }) => {
  expect(readable({ prompt: "consent" })).toMatchObject({
    asksForConsent: true,
    asksForLogin: false,
  });
  expect(readable({ prompt: "login" })).toMatchObject({
    asksForConsent: false,
    asksForLogin: true,
  });
  expect(readable({ prompt: "select_account consent" })).toMatchObject({
    ...{ asksForConsent: true, asksForLogin: true },
  });
});

test.for([
  ["https://claude.ai/api/mcp/auth_callback", true],
  ["https://chatgpt.com/connector/oauth/abc", true],
  ["http://127.0.0.1:5555/cb", true],
  ["http://[::1]:5555/cb", true],
  ["http://localhost/cb", true],
  ["https://claude.ai.evil.example/cb", false],
  ["https://evil.example/claude.ai", false],
  ["https://claude.ai:8443/cb", false],
  ["http://claude.ai/cb", false],
  ["https://x.claude.ai/cb", false],
  ["cursor://anysphere.cursor-mcp/oauth/callback", true],
  ["cursor://evil.example/oauth/callback", false],
  ["not an address", false],
] as const)("%s is known: %s", ([uri, isKnown], { expect }) => {
  expect(isKnownRedirect(uri)).toBe(isKnown);
});
