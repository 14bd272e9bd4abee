/** Sealed tokens: they come back as they were, in one spelling only, and cannot be made without the key. */

import * as fc from "fast-check";
import { describe, test, vi } from "vitest";

import { fromBase64Url, toBase64Url } from "../../../src/lib/base64url.ts";
import { importKey, keyId, type Keyring, seal, sealedWith, unseal } from "../../../src/lib/seal.ts";

const KEY_A = await importKey(new Uint8Array(32).fill(1));
const KEY_B = await importKey(new Uint8Array(32).fill(2));
const ring: Keyring = { currentId: "a", keys: new Map([["a", KEY_A]]) };
const VALUE = { sub: "é", n: [1, null] };
/** Every character that a token has, and some that it must not have. */
const ALPHABET = Array.from(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+/=~ \n\0é",
);

describe("a sealed value", () => {
  test("comes back as JSON carries it", async ({ expect }) => {
    const anything = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }));
    await fc.assert(
      fc.asyncProperty(anything, fc.string(), async (value, purpose) => {
        const token = await seal(ring, purpose, value);
        expect(await unseal(ring, purpose, token)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(token).toMatch(/^a\.[\x21-\x7e]+$/);
      }),
    );
  });

  test("is another token each time, and reveals nothing of the content", async ({ expect }) => {
    const value = "a secret that is long enough to be seen";
    const tokens = await Promise.all(Array.from({ length: 50 }, () => seal(ring, "p", value)));
    expect(new Set(tokens).size).toBe(50);
    const encoded = toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
    // Vectors differ too: two tokens under one vector would give the key's stream away.
    expect(new Set(tokens.map((token) => token.slice(2, 18))).size).toBe(50);
    for (const token of tokens) expect(token).not.toContain(encoded.slice(4, 12));
  });

  test("opens for its purpose alone", async ({ expect }) => {
    const purposes = fc.uniqueArray(fc.string({ unit: "grapheme" }), {
      minLength: 2,
      maxLength: 2,
    });
    await fc.assert(
      fc.asyncProperty(purposes, async ([purpose = "", other = ""]) => {
        const token = await seal(ring, purpose, VALUE);
        expect(await unseal(ring, other, token)).toBeUndefined();
      }),
    );
  });

  test("opens with an earlier key while the ring has it", async ({ expect }) => {
    const token = await seal(ring, "p", VALUE);
    const rotated: Keyring = { currentId: "b", keys: new Map([...ring.keys, ["b", KEY_B]]) };
    expect(await unseal(rotated, "p", token)).toEqual(VALUE);
    expect(await seal(rotated, "p", VALUE)).toMatch(/^b\./);
    const forgotten: Keyring = { currentId: "b", keys: new Map([["b", KEY_B]]) };
    expect(await unseal(forgotten, "p", token)).toBeUndefined();
    const other: Keyring = { currentId: "a", keys: new Map([["a", KEY_B]]) };
    expect(await unseal(other, "p", token)).toBeUndefined();
  });

  test("opens under the id that it was sealed with, whatever key another id has", async ({
    expect,
  }) => {
    const twice: Keyring = {
      currentId: "a",
      keys: new Map([
        ["a", KEY_A],
        ["b", KEY_A],
      ]),
    };
    const token = await seal(twice, "p", VALUE);
    expect(await unseal(twice, "p", token)).toEqual(VALUE);
    expect(await unseal(twice, "p", `b${token.slice(1)}`)).toBeUndefined();
  });

  test("cannot be sealed without a current key", async ({ expect }) => {
    await expect(seal({ ...ring, currentId: "b" }, "p", VALUE)).rejects.toThrow("no current key");
  });
});

/** Sealed as before keys were derived: with the key itself. */
async function sealedDirectly(bytes: Uint8Array, iv: Uint8Array): Promise<string> {
  const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt"]);
  const additionalData = new TextEncoder().encode("a.p");
  const plain = new TextEncoder().encode(JSON.stringify(VALUE));
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData }, key, plain);
  return `a.${toBase64Url(new Uint8Array([...iv, ...new Uint8Array(sealed)]))}`;
}

describe("each token has a key of its own", () => {
  test("so equal vectors never encrypt with the same key stream", async ({ expect }) => {
    // Of the random bytes of a token, the last twelve are the vector.
    const random = vi.spyOn(crypto, "getRandomValues");
    let salts = 0;
    random.mockImplementation((bytes) => {
      (bytes as Uint8Array).fill(7).fill((salts += 1), 0, 16);
      return bytes;
    });
    const tokens = [await seal(ring, "p", VALUE), await seal(ring, "p", VALUE)];
    random.mockRestore();
    const [one = "", other = ""] = tokens.map((token) => token.slice(4));
    const bytes = [one, other].map((text) => fromBase64Url(text) ?? new Uint8Array());
    const [vectors, contents] = [
      bytes.map((each) => toBase64Url(each.subarray(16, 28))),
      bytes.map((each) => toBase64Url(each.subarray(28, -16))),
    ];
    expect(vectors[0]).toBe(vectors[1]);
    expect(contents[0]).not.toBe(contents[1]);
    for (const token of tokens) expect(await unseal(ring, "p", token)).toEqual(VALUE);
  });

  test("and a token from before that is still opened, in its one spelling", async ({ expect }) => {
    const token = await sealedDirectly(new Uint8Array(32).fill(1), new Uint8Array(12).fill(3));
    expect(await unseal(ring, "p", token)).toEqual(VALUE);
    expect(await unseal(ring, "q", token)).toBeUndefined();
    expect(await unseal(ring, "p", token.replace("a.", "a.2."))).toBeUndefined();
    const derived = await seal(ring, "p", VALUE);
    expect(await unseal(ring, "p", derived.replace("a.2.", "a."))).toBeUndefined();
  });
});

describe("a token has one spelling", () => {
  // Three lengths of content, so that the last character carries 0, 2 and 4 bits that are left over.
  test.for(["x", "xy", "xyz"])("with the content %j", async (value, { expect }) => {
    const token = await seal(ring, "p", value);
    const changed: string[] = [];
    for (let at = 0; at < token.length; at++) {
      for (const char of ALPHABET) {
        if (char !== token[at]) changed.push(token.slice(0, at) + char + token.slice(at + 1));
      }
      changed.push(token.slice(0, at), token.slice(0, at) + token.slice(at + 1));
    }
    for (const char of ALPHABET) changed.push(token + char, char + token);
    const opened = await Promise.all(changed.map((text) => unseal(ring, "p", text)));
    expect(changed.filter((_, index) => opened[index] !== undefined)).toEqual([]);
    expect(await unseal(ring, "p", token)).toBe(value);
  });

  test("and any other text is none, without throwing", async ({ expect }) => {
    const token = await seal(ring, "p", VALUE);
    const body = token.slice(2);
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 40 }).map((text) => `a.${text}`),
      fc.constantFrom("", ".", "a", "a.", body, `.${body}`, `a.a.${body}`, `a..${body}`),
      fc.constantFrom(`${token}=`, `${token}==`, `${token}\n`, ` ${token}`, `${token},${token}`),
    );
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        expect(await unseal(ring, "p", text)).toBeUndefined();
      }),
    );
  });
});

describe("sealedWith()", () => {
  test("reads the key's id, which proves nothing", async ({ expect }) => {
    expect(sealedWith(await seal(ring, "p", VALUE))).toBe("a");
    expect(sealedWith(`0123abcd.${"A".repeat(60)}`)).toBe("0123abcd");
  });

  test.for([
    "",
    "0123abcd",
    "0123abcd.",
    "0123abcd.AAAA",
    `.${"A".repeat(60)}`,
    `0123abcd.${"A".repeat(60)}=`,
    `${"a".repeat(17)}.${"A".repeat(60)}`,
    `__proto__.${"A".repeat(60)}`,
    "f".repeat(64),
  ])("finds none in %j", (text, { expect }) => {
    expect(sealedWith(text)).toBeUndefined();
  });
});

describe("keys", () => {
  test("have an id that their bytes give", async ({ expect }) => {
    // The first eight digits of the sha256sum of 32 zero bytes.
    expect(await keyId(new Uint8Array(32))).toBe("66687aad");
    // A byte under 16 has two digits as well.
    expect(await keyId(new Uint8Array(32).fill(19))).toMatch(/^[0-9a-f]{8}$/);
    for (let byte = 0; byte < 64; byte++) {
      expect(await keyId(new Uint8Array(32).fill(byte))).toHaveLength(8);
    }
  });

  test.for([0, 16, 24, 31, 33])("of %d bytes are refused", async (length, { expect }) => {
    await expect(importKey(new Uint8Array(length))).rejects.toThrow(RangeError);
  });

  test("do not leave the isolate", async ({ expect }) => {
    for (const key of [KEY_A.root, KEY_A.direct]) {
      await expect(crypto.subtle.exportKey("raw", key)).rejects.toThrow();
    }
  });
});

describe("base64url", () => {
  test.for([
    { bytes: [], text: "" },
    { bytes: [0], text: "AA" },
    { bytes: [251, 255], text: "-_8" },
    { bytes: [251, 239, 190], text: "----" },
    { bytes: [255, 255, 255, 255], text: "_____w" },
  ])("of $bytes is $text", ({ bytes, text }, { expect }) => {
    expect(toBase64Url(Uint8Array.from(bytes))).toBe(text);
    expect(fromBase64Url(text)).toEqual(Uint8Array.from(bytes));
  });

  test.for([
    "A",
    "AAAAA",
    "AB",
    "-_9",
    "AA==",
    "AA=",
    "+/8",
    "A A",
    "AAA\n",
    "é",
    " ",
    "A".repeat(41),
  ])("has no such spelling as %j", (text, { expect }) => {
    expect(fromBase64Url(text)).toBeUndefined();
  });

  test("carries any bytes, and no two texts carry the same", ({ expect }) => {
    fc.assert(
      fc.property(
        fc.uint8Array(),
        fc.string({ unit: fc.constantFrom(...ALPHABET) }),
        (bytes, text) => {
          expect(fromBase64Url(toBase64Url(bytes))).toEqual(bytes);
          const read = fromBase64Url(text);
          if (read !== undefined) expect(toBase64Url(read)).toBe(text);
        },
      ),
    );
  });
});
