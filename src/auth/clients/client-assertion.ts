/**
 * Client authentication by a signed assertion (RFC 7523 sections 2.2 and 3, `private_key_jwt`). The
 * claims are judged before the signature: a key set at a URL is loaded only for an assertion that
 * could be right.
 */

import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { JOSEError, JWKSMultipleMatchingKeys, JWKSNoMatchingKey } from "jose/errors";

import { hashOf } from "../../lib/random.ts";
import type { ClientKeys } from "./assertion-keys.ts";
import type { AssertionKeys, JwkSet } from "./document-keys.ts";

export const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

export interface AssertionCheck {
  /** The client id that the request claims, and where the keys of that client are. */
  readonly clientId: string;
  readonly keys: AssertionKeys;
  readonly clientKeys: Pick<ClientKeys, "of" | "newer">;
  /** This server's issuer, without a trailing slash. */
  readonly issuer: string;
  readonly tokenEndpoint: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * Reserves a mark atomically: of several concurrent calls with the same mark, one gets `true`.
   *
   * @param mark of the assertion and its client together, short and of plain characters.
   * @param expiresAt until when it must be remembered, in seconds since 1970.
   */
  readonly reserve: (mark: string, expiresAt: number) => Promise<boolean>;
}

export type AssertionProblem =
  | "malformed"
  | "bad-algorithm"
  | "bad-type"
  | "other-client"
  | "other-audience"
  | "bad-time"
  | "expired"
  | "too-long"
  | "too-early"
  | "too-old"
  | "no-id"
  | "keys-unavailable"
  | "unknown-key"
  | "bad-signature"
  | "replayed";

export type AssertionOutcome =
  | { readonly kind: "verified" }
  /**
   * The client learns whether its keys were available, and nothing else: without them, nobody knows
   * whether the assertion is right.
   */
  | { readonly kind: "refused"; readonly problem: AssertionProblem };

const MAX_CHARS = 16_384;
const MAX_ID_CHARS = 256;
/** The longest lifetime of an assertion: each is made for one request. */
const MAX_SECONDS = 300;
/** The tolerated difference between two clocks. */
const SKEW_SECONDS = 60;
const ISSUER_BOUND = /^(?:application\/)?client-authentication\+jwt$/;

type Claims = ReturnType<typeof decodeJwt>;

export async function verifyClientAssertion(
  assertion: string,
  check: AssertionCheck,
): Promise<AssertionOutcome> {
  const read = readAssertion(assertion);
  if (read === undefined) return refused("malformed");
  const { claims, alg, typ } = read;
  const { keys, clientKeys, clientId } = check;
  if (!keys.algorithms.some((name) => name === alg)) return refused("bad-algorithm");
  const problem = judgeType(typ) ?? judgeSubject(claims, typ, check) ?? judgeTimes(claims, check);
  if (problem !== undefined) return refused(problem);
  const { jti, exp = 0 } = claims;
  if (typeof jti !== "string" || jti === "" || jti.length > MAX_ID_CHARS) return refused("no-id");

  const jwks = await clientKeys.of(keys);
  if (jwks === undefined) return refused("keys-unavailable");
  let fault = await judgeSignature(assertion, jwks, check);
  const newer = fault === undefined ? undefined : await clientKeys.newer(keys);
  // The client may have signed with a key that is newer than the held ones.
  if (newer === "unavailable") return refused("keys-unavailable");
  if (newer !== undefined) fault = await judgeSignature(assertion, newer, check);
  if (fault !== undefined) return refused(fault);

  // Last, so that only the client itself can use up its assertion.
  const mark = await hashOf(JSON.stringify([clientId, jti]));
  const isFirst = await check.reserve(mark, Math.ceil(exp) + SKEW_SECONDS);
  return isFirst ? { kind: "verified" } : refused("replayed");
}

/**
 * @returns the client that an assertion is about, unverified, for a request without `client_id`.
 */
export function claimedClient(assertion: string): string | undefined {
  return readAssertion(assertion)?.claims.iss;
}

function readAssertion(
  assertion: string,
): { claims: Claims; alg: unknown; typ: string } | undefined {
  if (assertion.length > MAX_CHARS) return undefined;
  try {
    const { alg, typ = "JWT" } = decodeProtectedHeader(assertion);
    const claims = decodeJwt(assertion);
    if (typeof typ !== "string" || typeof (claims.iss ?? "") !== "string") return undefined;
    return { claims, alg, typ: typ.toLowerCase() };
  } catch {
    return undefined; // not a JWT
  }
}

/**
 * Another kind of token that the client signed is not an assertion of its identity (RFC 8725,
 * 3.11).
 */
function judgeType(typ: string): AssertionProblem | undefined {
  return typ === "jwt" || ISSUER_BOUND.test(typ) ? undefined : "bad-type";
}

function judgeSubject(
  { iss, sub, aud }: Claims,
  typ: string,
  { clientId, issuer, tokenEndpoint }: AssertionCheck,
): AssertionProblem | undefined {
  if (iss !== clientId || sub !== clientId) return "other-client";
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  // One of several recipients could present an assertion here that was meant for all of them.
  const ours = [issuer, `${issuer}/`, ...(ISSUER_BOUND.test(typ) ? [] : [tokenEndpoint])];
  const isOurs = audiences.length > 0 && audiences.every((one) => ours.some((own) => own === one));
  return isOurs ? undefined : "other-audience";
}

function judgeTimes(
  { exp, iat, nbf }: Claims,
  { now }: AssertionCheck,
): AssertionProblem | undefined {
  const seconds = now / 1000;
  if (exp === undefined || ![exp, iat, nbf].every(isTime)) return "bad-time";
  if (exp <= seconds - SKEW_SECONDS) return "expired";
  if (exp > seconds + MAX_SECONDS + SKEW_SECONDS) return "too-long";
  if (Math.max(iat ?? 0, nbf ?? 0) > seconds + SKEW_SECONDS) return "too-early";
  return (iat ?? seconds) < seconds - MAX_SECONDS - SKEW_SECONDS ? "too-old" : undefined;
}

function isTime(value: unknown): boolean {
  return value === undefined || Number.isFinite(value);
}

async function judgeSignature(
  assertion: string,
  jwks: JwkSet,
  { keys, now }: AssertionCheck,
): Promise<AssertionProblem | undefined> {
  try {
    const set = createLocalJWKSet({ keys: [...jwks.keys] });
    await jwtVerify(assertion, set, {
      algorithms: [...keys.algorithms],
      currentDate: new Date(now),
      clockTolerance: SKEW_SECONDS,
    });
    return undefined;
  } catch (error) {
    // Every failure here comes from data that the client sent or published.
    const code = error instanceof JOSEError ? error.code : undefined;
    const isUnknown = code === JWKSNoMatchingKey.code || code === JWKSMultipleMatchingKeys.code;
    return isUnknown ? "unknown-key" : "bad-signature";
  }
}

function refused(problem: AssertionProblem): AssertionOutcome {
  return { kind: "refused", problem };
}
