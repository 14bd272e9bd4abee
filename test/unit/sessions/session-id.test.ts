/** Session ids: what they carry, who can read them, and how large a client may make them. */

import * as fc from "fast-check";
import { describe, onTestFinished, test, vi } from "vitest";

import { toBase64Url } from "../../../src/lib/base64url.ts";
import { parseLossless } from "../../../src/lib/lossless-json.ts";
import { importKey, keyId, type Keyring, seal } from "../../../src/lib/seal.ts";
import { LEGACY_REVISIONS } from "../../../src/protocol/revisions.ts";
import type { ClientFacts } from "../../../src/sessions/dispatch.ts";
import {
  boundFacts,
  mintSessionId,
  readClaims,
  readSessionId,
  type SessionClaims,
  writeClaims,
} from "../../../src/sessions/session-id.ts";
import { SessionKeys } from "../../../src/endpoint/keyring.ts";

const BYTES = new Uint8Array(32).fill(1);
const ID = await keyId(BYTES);
const ring: Keyring = { currentId: ID, keys: new Map([[ID, await importKey(BYTES)]]) };
const keys = new SessionKeys(() => Promise.resolve([toBase64Url(BYTES)]));
const OTHER_BYTES = new Uint8Array(32).fill(2);
const OTHER_ID = await keyId(OTHER_BYTES);
const otherRing: Keyring = {
  currentId: OTHER_ID,
  keys: new Map([[OTHER_ID, await importKey(OTHER_BYTES)]]),
};

const NOW = 1_800_000_000;
const CLIENT: ClientFacts = {
  revision: "2025-06-18",
  capabilities: { sampling: {}, roots: { listChanged: true } },
  clientInfo: { name: "Käse", version: "1" },
};
const CLAIMS: SessionClaims = {
  object: "f".repeat(64),
  principal: "anonymous",
  route: "/mcp/demo",
  client: CLIENT,
  issuedAt: NOW,
  expiresAt: NOW + 60,
};

const jsonObject = fc.dictionary(fc.string(), fc.jsonValue(), {
  maxKeys: 4,
  noNullPrototype: true,
});
const facts: fc.Arbitrary<ClientFacts> = fc.record({
  revision: fc.constantFrom(...LEGACY_REVISIONS),
  capabilities: jsonObject,
  clientInfo: jsonObject,
});
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const sizeOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

/** Facts with something in them that may be cut. */
const padded = (pad: number): ClientFacts => ({
  ...CLIENT,
  clientInfo: { name: "n", icons: [{ src: "x".repeat(pad) }], version: "1", title: "T" },
});

describe("a session id", () => {
  test("carries its facts, in visible ASCII", async ({ expect }) => {
    const claims: fc.Arbitrary<SessionClaims> = fc.record(
      {
        object: fc.string(),
        principal: fc.string({ unit: "grapheme" }),
        route: fc.webPath(),
        client: facts,
        issuedAt: fc.nat(),
        expiresAt: fc.integer({ min: NOW + 1 }),
      },
      { requiredKeys: ["object", "principal", "route", "issuedAt", "expiresAt"] },
    );
    await fc.assert(
      fc.asyncProperty(claims, async (given) => {
        const id = await mintSessionId(ring, given);
        expect(id).toMatch(/^[\x21-\x7e]+$/);
        expect(await readSessionId(keys, id, NOW)).toEqual(plain(given));
      }),
    );
  });

  test("has no client before it is known, not even an empty one", async ({ expect }) => {
    const { client: _, ...early } = CLAIMS;
    const read = await readSessionId(keys, await mintSessionId(ring, early), NOW);
    expect(read).toStrictEqual(early);
  });

  test("is opened once by the same keys", async ({ expect }) => {
    const decrypt = vi.spyOn(crypto.subtle, "decrypt");
    onTestFinished(() => decrypt.mockRestore());
    const id = await mintSessionId(ring, CLAIMS);
    for (let n = 0; n < 3; n++) expect(await readSessionId(keys, id, NOW)).toEqual(CLAIMS);
    expect(decrypt).toHaveBeenCalledTimes(1);
  });

  test("is not opened by other keys, even if it was opened before", async ({ expect }) => {
    const id = await mintSessionId(ring, CLAIMS);
    expect(await readSessionId(keys, id, NOW)).toEqual(CLAIMS);
    const others = new SessionKeys(() => Promise.resolve([toBase64Url(OTHER_BYTES)]));
    expect(await readSessionId(others, id, NOW)).toBeUndefined();
  });

  test("is not opened any more once its key has been removed", async ({ expect }) => {
    const materials = [toBase64Url(BYTES)];
    const changing = new SessionKeys(() => Promise.resolve([...materials]));
    const id = await mintSessionId(ring, CLAIMS);
    expect(await readSessionId(changing, id, NOW)).toEqual(CLAIMS);
    materials[0] = toBase64Url(OTHER_BYTES);
    // An id of the new key has the keys asked for.
    const newer = await mintSessionId(otherRing, CLAIMS);
    expect(await readSessionId(changing, newer, NOW)).toEqual(CLAIMS);
    expect(await readSessionId(changing, id, NOW)).toBeUndefined();
  });

  test("is served until its time is over", async ({ expect }) => {
    const id = await mintSessionId(ring, CLAIMS);
    expect(await readSessionId(keys, id, CLAIMS.expiresAt - 1)).toEqual(CLAIMS);
    expect(await readSessionId(keys, id, CLAIMS.expiresAt)).toBeUndefined();
    expect(await readSessionId(keys, id, CLAIMS.expiresAt + 1)).toBeUndefined();
  });

  test("leaves room for other headers, however large the client is", async ({ expect }) => {
    const client = { ...CLIENT, clientInfo: { name: "" } };
    const name = "n".repeat(2048 - sizeOf(client));
    const largest = boundFacts({ ...client, clientInfo: { name } });
    if (typeof largest === "string") throw new Error(largest);
    const claims = { ...CLAIMS, principal: "p".repeat(100), client: largest };
    expect((await mintSessionId(ring, claims)).length).toBeLessThan(4096);
    expect((await mintSessionId(ring, CLAIMS)).length).toBeLessThan(512);
  });
});

describe("no session id is", () => {
  test("one that was changed in any place", async ({ expect }) => {
    const id = await mintSessionId(ring, CLAIMS);
    const change = fc.tuple(
      fc.nat({ max: id.length - 1 }),
      fc.string({ unit: "binary-ascii", maxLength: 2 }),
    );
    await fc.assert(
      fc.asyncProperty(change, async ([at, text]) => {
        const changed = id.slice(0, at) + text + id.slice(at + 1);
        fc.pre(changed !== id);
        expect(await readSessionId(keys, changed, NOW)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  test.for(["", "f".repeat(64), "3f0c9a52-1c1e-4b8e-9f0e-1a2b3c4d5e6f", "é", "a.b"])(
    "%j, and no key is asked for",
    async (text, { expect }) => {
      const untouched = new SessionKeys(() => Promise.reject(new Error("asked")));
      expect(await readSessionId(untouched, text, NOW)).toBeUndefined();
    },
  );

  test("accepted when the keys cannot be loaded", async ({ expect }) => {
    const broken = new SessionKeys(() => Promise.reject(new Error("down")));
    const id = await mintSessionId(ring, CLAIMS);
    await expect(readSessionId(broken, id, NOW)).rejects.toThrow("down");
  });

  test("one that another key has sealed, under the same name", async ({ expect }) => {
    const other = await importKey(new Uint8Array(32).fill(2));
    const forged: Keyring = { currentId: ID, keys: new Map([[ID, other]]) };
    expect(await readSessionId(keys, await mintSessionId(forged, CLAIMS), NOW)).toBeUndefined();
  });

  test("a token of another purpose", async ({ expect }) => {
    const facts = { r: CLIENT.revision, c: {}, i: { name: "n" } };
    const good = { v: 1, o: "o", p: "p", r: "/mcp", c: facts, i: NOW, e: NOW + 1 };
    const read = readSessionId(keys, await seal(ring, "session-id", good), NOW);
    expect(await read).toMatchObject({ object: "o" });
    const elsewhere = await seal(ring, "sign-in", good);
    expect(await readSessionId(keys, elsewhere, NOW)).toBeUndefined();
  });

  const good = { v: 1, o: "o", p: "p", r: "/mcp", i: NOW, e: NOW + 1 };
  const client = { r: "2025-06-18", c: {}, i: {} };
  test.for<{ name: string; value: unknown }>([
    ...Object.keys(good).flatMap((key) => [
      { name: `without ${key}`, value: { ...good, [key]: undefined } },
      { name: `with ${key} of another type`, value: { ...good, [key]: {} } },
    ]),
    { name: "of another version", value: { ...good, v: 2 } },
    { name: "that expires at a time in words", value: { ...good, e: `${NOW + 1}` } },
    { name: "that never expires", value: { ...good, e: null } },
    { name: "with a client that is null", value: { ...good, c: null } },
    { name: "with a client that is a list", value: { ...good, c: [] } },
    { name: "of a modern client", value: { ...good, c: { ...client, r: "2026-07-28" } } },
    { name: "without capabilities", value: { ...good, c: { ...client, c: undefined } } },
    { name: "with capabilities that are a list", value: { ...good, c: { ...client, c: [] } } },
    { name: "without client info", value: { ...good, c: { ...client, i: undefined } } },
    { name: "that is a list", value: [good] },
    { name: "that is a string", value: "session" },
    { name: "that is null", value: null },
  ])("one $name, of an older version of this code", async ({ value }, { expect }) => {
    expect(await readSessionId(keys, await seal(ring, "session-id", good), NOW)).toBeDefined();
    const odd = await seal(ring, "session-id", value);
    expect(await readSessionId(keys, odd, NOW)).toBeUndefined();
  });
});

describe("boundFacts()", () => {
  const room = 2048 - sizeOf(padded(0));

  test("leaves what fits as it is, to the byte", ({ expect }) => {
    const fitting = padded(room);
    expect(boundFacts(fitting)).toBe(fitting);
    expect(boundFacts(padded(room + 1))).not.toEqual(padded(room + 1));
  });

  test("counts bytes, not characters", ({ expect }) => {
    const client = { ...CLIENT, clientInfo: { name: "n", x: "é".repeat(1500) } };
    expect(boundFacts(client)).toEqual({ ...CLIENT, clientInfo: { name: "n" } });
  });

  test("cuts the client info to what people read", ({ expect }) => {
    expect(boundFacts(padded(100_000))).toStrictEqual({
      ...CLIENT,
      clientInfo: { name: "n", version: "1", title: "T" },
    });
  });

  test.for([
    { name: "capabilities", over: { capabilities: { experimental: { x: "x".repeat(3000) } } } },
    { name: "a name", over: { clientInfo: { name: "x".repeat(3000) } } },
  ])("refuses $name that cannot be cut, in one sentence", ({ over }, { expect }) => {
    const client = { ...CLIENT, ...over };
    const refused = boundFacts(client);
    expect(refused).toBe(
      `params.capabilities and params.clientInfo come to ${sizeOf(client)} bytes of JSON; at most 2048 are allowed`,
    );
  });

  test("gives what fits or a sentence, and cuts nothing but the client info", ({ expect }) => {
    const hostile = fc.record({
      revision: fc.constantFrom(...LEGACY_REVISIONS),
      capabilities: jsonObject,
      clientInfo: fc.dictionary(
        fc.constantFrom("name", "title", "version", "icons", "__proto__", "websiteUrl"),
        fc.string({ unit: "binary", maxLength: 1500 }),
        { noNullPrototype: true },
      ),
    });
    fc.assert(
      fc.property(hostile, (client) => {
        const bound = boundFacts(client);
        if (typeof bound === "string") return;
        expect(sizeOf(bound)).toBeLessThanOrEqual(2048);
        expect({ ...bound, clientInfo: {} }).toEqual({ ...client, clientInfo: {} });
        expect(client.clientInfo).toMatchObject(bound.clientInfo);
      }),
    );
  });
});

test("claims with any numbers are the same in the id, and at the session's object", async ({
  expect,
}) => {
  const odd = parseLossless('{"x":[1e400,1.0,12345678901234567890]}') as ClientFacts["clientInfo"];
  const client = { ...CLIENT, capabilities: odd, clientInfo: odd };
  const claims = { ...CLAIMS, client };
  const read = await readSessionId(keys, await mintSessionId(ring, claims), NOW);
  for (const one of [read, readClaims(writeClaims(claims))]) {
    expect(JSON.stringify(one?.client)).toBe(JSON.stringify(client));
    expect(one).toMatchObject({ ...CLAIMS, client: { revision: CLIENT.revision } });
  }
  expect(() => readClaims("{}")).toThrow(TypeError);
});
