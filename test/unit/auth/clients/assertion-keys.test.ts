/** The sources of clients' keys, and how often they are loaded. */

import { exportJWK } from "jose";
import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { AssertionOutcome } from "../../../../src/auth/clients/client-assertion.ts";
import {
  type AssertionKeys,
  SIGNING_ALGORITHMS,
} from "../../../../src/auth/clients/document-keys.ts";
import { toBase64Url } from "../../../../src/lib/base64url.ts";
import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import {
  encode,
  inline,
  KEYS_AT,
  KeyServer,
  pair,
  refused,
  sign,
  type Statement,
  VERIFIED,
  verify,
} from "./assertion-fixture.ts";

const AT_ADDRESS: AssertionKeys = { jwksUri: KEYS_AT, algorithms: SIGNING_ALGORITHMS };

function later(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

async function by(server: KeyServer, statement: Statement = {}): Promise<AssertionOutcome> {
  const { clientKeys } = server;
  return verify(await sign(statement), { keys: AT_ADDRESS, clientKeys });
}

describe("keys of a client", () => {
  test("that no key id distinguishes are not used", async ({ expect }) => {
    const keys = inline("ES256", "second");
    expect(await verify(await sign({ header: { kid: undefined } }), { keys })).toEqual(
      refused("unknown-key"),
    );
    expect(await verify(await sign({ key: "second" }), { keys })).toEqual(VERIFIED);
  });

  test("that are no keys, or not for signatures, verify nothing", async ({ expect }) => {
    const { jwk } = pair("ES256");
    for (const [key, problem] of [
      [{ kid: "ES256" }, "unknown-key"],
      [{ ...jwk, use: "enc" }, "unknown-key"],
      [{ ...jwk, alg: "ES384" }, "unknown-key"],
      [{ ...jwk, key_ops: ["sign"] }, "unknown-key"],
      [{ ...jwk, x: "AA" }, "bad-signature"],
      [{ ...jwk, kty: 1 }, "unknown-key"],
    ] as const) {
      const keys: AssertionKeys = { jwks: { keys: [key] }, algorithms: SIGNING_ALGORITHMS };
      expect(await verify(await sign(), { keys })).toEqual(refused(problem));
    }
  });

  test("of too few bits verify nothing, though the signature is right", async ({ expect }) => {
    const algorithm = {
      ...{ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", publicExponent: Uint8Array.of(1, 0, 1) },
    };
    async function signedWith(modulusLength: number): Promise<AssertionOutcome> {
      const made = await crypto.subtle.generateKey({ ...algorithm, modulusLength }, true, [
        ...(["sign", "verify"] as const),
      ]);
      if (!("publicKey" in made)) throw new Error("no pair");
      const jwk: JsonObject = { ...(await exportJWK(made.publicKey)), kid: "short" };
      const [, payload = ""] = (await sign()).split(".");
      const content = `${encode({ alg: "RS256", kid: "short" })}.${payload}`;
      const bytes = new TextEncoder().encode(content);
      const signature = await crypto.subtle.sign(algorithm.name, made.privateKey, bytes);
      const keys: AssertionKeys = { jwks: { keys: [jwk] }, algorithms: ["RS256"] };
      return verify(`${content}.${toBase64Url(new Uint8Array(signature))}`, { keys });
    }
    expect(await signedWith(2048)).toEqual(VERIFIED);
    expect(await signedWith(1024)).toEqual(refused("bad-signature"));
  });
});

describe("keys at an address", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("are loaded once in five minutes", async ({ expect }) => {
    const server = new KeyServer();
    expect([await by(server), await by(server)]).toEqual([VERIFIED, VERIFIED]);
    later(299_999);
    expect([await by(server), server.hits]).toEqual([VERIFIED, 1]);
    later(1);
    expect([await by(server), server.hits]).toEqual([VERIFIED, 2]);
  });

  test("are not loaded for a statement that is wrong by itself", async ({ expect }) => {
    const server = new KeyServer();
    for (const claims of [{ iss: "x" }, { aud: "x" }, { exp: 0 }, { jti: "" }]) {
      expect((await by(server, { claims })).kind).toBe("refused");
    }
    expect((await by(server, { header: { typ: "at+jwt" } })).kind).toBe("refused");
    expect(server.hits).toBe(0);
  });

  test("are loaded again for a key that is new, and for keys that are made up once in a minute", async ({
    expect,
  }) => {
    const server = new KeyServer();
    await by(server);
    later(60_000);
    server.keys = ["ES256", "second"];
    expect([await by(server, { key: "second" }), server.hits]).toEqual([VERIFIED, 2]);
    for (let n = 0; n < 5; n++) {
      expect(await by(server, { key: "stranger" })).toEqual(refused("unknown-key"));
    }
    expect(server.hits).toBe(2);
    later(59_999);
    await by(server, { key: "stranger" });
    expect(server.hits).toBe(2);
    later(1);
    await by(server, { key: "stranger" });
    expect(server.hits).toBe(3);
    expect(await by(server)).toEqual(VERIFIED);
  });

  test("are not loaded again for a key that is missing in what was loaded just now", async ({
    expect,
  }) => {
    const server = new KeyServer();
    expect(await by(server, { key: "stranger" })).toEqual(refused("unknown-key"));
    expect(server.hits).toBe(1);
  });

  test("are loaded again when the only key was replaced under no name", async ({ expect }) => {
    const server = new KeyServer();
    await by(server);
    later(60_000);
    server.answer = () => Response.json({ keys: [{ ...pair("second").jwk, kid: undefined }] });
    expect(await by(server, { key: "second", header: { kid: undefined } })).toEqual(VERIFIED);
  });

  test("that are held serve on when they cannot be loaded again", async ({ expect }) => {
    const server = new KeyServer();
    const good = server.answer;
    await by(server);
    later(60_000);
    server.answer = () => new Response(null, { status: 500 });
    // Whether the new key is the client's is not known before they can be loaded.
    for (let n = 0; n < 2; n++) {
      expect(await by(server, { key: "second" })).toEqual(refused("keys-unavailable"));
    }
    expect([await by(server), server.hits]).toEqual([VERIFIED, 2]);
    later(60_000);
    server.keys = ["ES256", "second"];
    server.answer = good;
    expect(await by(server, { key: "second" })).toEqual(VERIFIED);
    expect(await by(server, { key: "stranger" })).toEqual(refused("unknown-key"));
  });

  test.for([
    ["an error", () => new Response(null, { status: 500 })],
    ["a page", () => new Response("<h1>", { headers: { "Content-Type": "text/html" } })],
    ["no keys", () => Response.json({ keys: "x" })],
    ["keys that are none", () => Response.json({ keys: [1] })],
    ["too much", () => Response.json({ keys: [], x: "x".repeat(64 * 1024) })],
    [
      "a redirect",
      () => new Response(null, { status: 302, headers: { Location: "https://b.example/" } }),
    ],
  ] as const)("that are %s are asked for once in a minute", async ([, answer], { expect }) => {
    const server = new KeyServer();
    const good = server.answer;
    server.answer = answer;
    for (let n = 0; n < 5; n++) expect(await by(server)).toEqual(refused("keys-unavailable"));
    expect(server.hits).toBe(1);
    server.answer = good;
    later(59_999);
    expect(await by(server)).toEqual(refused("keys-unavailable"));
    later(1);
    expect([await by(server), server.hits]).toEqual([VERIFIED, 2]);
  });

  test("serve all who come while they are loaded", async ({ expect }) => {
    const server = new KeyServer();
    const { promise, resolve } = Promise.withResolvers<void>();
    const good = server.answer;
    server.answer = async () => {
      await promise;
      return good();
    };
    const both = [by(server), by(server)];
    resolve();
    expect(await Promise.all(both)).toEqual([VERIFIED, VERIFIED]);
  });

  test("where nothing may be asked are not asked for", async ({ expect }) => {
    const server = new KeyServer();
    const { clientKeys } = server;
    for (const jwksUri of ["https://127.0.0.1/keys", "https://gateway.example/keys"]) {
      const keys: AssertionKeys = { jwksUri, algorithms: SIGNING_ALGORITHMS };
      expect(await verify(await sign(), { keys, clientKeys })).toEqual(refused("keys-unavailable"));
    }
    expect(server.hits).toBe(0);
  });
});
