/** Statements that a test signs, and the keys of their clients, inline or at an address. */

import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { beforeAll } from "vitest";

import { ClientKeys } from "../../../../src/auth/clients/assertion-keys.ts";
import {
  type AssertionCheck,
  type AssertionOutcome,
  type AssertionProblem,
  verifyClientAssertion,
} from "../../../../src/auth/clients/client-assertion.ts";
import {
  type AssertionKeys,
  SIGNING_ALGORITHMS,
} from "../../../../src/auth/clients/document-keys.ts";
import { toBase64Url } from "../../../../src/lib/base64url.ts";
import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";

export const ID = "https://a.client.example/client.json";
export const KEYS_AT = "https://a.client.example/keys";
export const ISSUER = "https://gateway.example";
const TOKEN = `${ISSUER}/token`;
export const NOW = 1_800_000_000;

interface Pair {
  readonly privateKey: CryptoKey;
  readonly jwk: JsonObject;
}

const pairs = new Map<string, Pair>();
export const pair = (name: string): Pair => {
  const found = pairs.get(name);
  if (found === undefined) throw new Error(name);
  return found;
};

beforeAll(async () => {
  for (const name of [...SIGNING_ALGORITHMS, "second", "stranger"]) {
    const alg = SIGNING_ALGORITHMS.find((one) => one === name) ?? "ES256";
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    pairs.set(name, { privateKey, jwk: { ...(await exportJWK(publicKey)), kid: name } });
  }
});

export interface Statement {
  readonly key?: string;
  readonly header?: Record<string, unknown>;
  /** Over those that are right; `undefined` leaves one out. */
  readonly claims?: Record<string, unknown>;
}

let count = 0;

export function sign({ key = "ES256", header = {}, claims = {} }: Statement = {}): Promise<string> {
  count += 1;
  const right = { iss: ID, sub: ID, aud: ISSUER, exp: NOW + 60, iat: NOW, jti: `jti-${count}` };
  const protectedHeader = { alg: SIGNING_ALGORITHMS.find((one) => one === key) ?? "ES256" };
  return new SignJWT(JSON.parse(JSON.stringify({ ...right, ...claims })) as JWTPayload)
    .setProtectedHeader({ ...protectedHeader, kid: key, ...header })
    .sign(pair(key).privateKey);
}

export function inline(...names: readonly string[]): AssertionKeys {
  const keys = names.map((name) => pair(name).jwk);
  return { jwks: { keys }, algorithms: SIGNING_ALGORITHMS };
}

/** Marks that are taken, as an object takes them. */
export class Marks {
  readonly taken = new Map<string, number>();
  readonly reserve = async (mark: string, expiresAt: number): Promise<boolean> => {
    if (this.taken.has(mark)) return false;
    this.taken.set(mark, expiresAt);
    return true;
  };
}

/** Keys at an address, which counts how often it is asked. */
export class KeyServer {
  hits = 0;
  keys: readonly string[] = ["ES256"];
  answer: () => Response | Promise<Response> = () =>
    Response.json({ keys: this.keys.map((name) => pair(name).jwk) });
  readonly clientKeys = new ClientKeys({
    policy: { ownHosts: new Set(["gateway.example"]) },
    fetch: async () => {
      this.hits += 1;
      return this.answer();
    },
  });
}

export function verify(
  assertion: string,
  check: Partial<AssertionCheck> = {},
): Promise<AssertionOutcome> {
  return verifyClientAssertion(assertion, {
    ...{ clientId: ID, issuer: ISSUER, tokenEndpoint: TOKEN, now: NOW * 1000 },
    keys: inline("ES256"),
    clientKeys: new KeyServer().clientKeys,
    reserve: new Marks().reserve,
    ...check,
  });
}

export const encode = (value: unknown): string =>
  toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
export const VERIFIED: AssertionOutcome = { kind: "verified" };
export const refused = (problem: AssertionProblem): AssertionOutcome => ({
  kind: "refused",
  problem,
});
