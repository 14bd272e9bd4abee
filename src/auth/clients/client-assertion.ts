/**
 * A client proves with a signed statement that it is the client (RFC 7523 sections 2.2 and 3,
 * `private_key_jwt`). What the statement says is judged before its signature: keys at an address
 * are only loaded for a statement that could be right.
 */

import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, errors, jwtVerify } from "jose";

import { hashOf } from "../../lib/random.ts";
import type { ClientKeys } from "./assertion-keys.ts";
import type { AssertionKeys, JwkSet } from "./document-keys.ts";

export const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

export interface AssertionCheck {
  /** Who the client says that it is, and where its keys are. */
  readonly clientId: string;
  readonly keys: AssertionKeys;
  readonly clientKeys: Pick<ClientKeys, "of" | "newer">;
  /** Ours, without a slash at its end. */
  readonly issuer: string;
  readonly tokenEndpoint: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * Takes a mark, atomically: of several who want the same one, one gets it.
   *
   * @param mark of the statement and its client together, short and of plain characters.
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
  /** The reason is for the log: whoever asked is told that the client was not authenticated. */
  | { readonly kind: "refused"; readonly problem: AssertionProblem };

const MAX_CHARS = 16_384;
const MAX_ID_CHARS = 256;
/** A statement is made for one request. */
const MAX_SECONDS = 300;
/** How far two clocks may be apart. */
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
  if (newer !== undefined) fault = await judgeSignature(assertion, newer, check);
  if (fault !== undefined) return refused(fault);

  // Last, so that nobody but the client uses up its statement.
  const mark = await hashOf(JSON.stringify([clientId, jti]));
  const isFirst = await check.reserve(mark, Math.ceil(exp) + SKEW_SECONDS);
  return isFirst ? { kind: "verified" } : refused("replayed");
}

/** Whom a statement is about, for a request that does not say it elsewhere; nothing is verified. */
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
    return undefined; // it is no JWT
  }
}

/** A token of another kind that the client signed is no statement of who it is (RFC 8725, 3.11). */
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
  // What was meant for others too, one of them could present here.
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
    // All that can go wrong here is made of what the client sent or published.
    const code = error instanceof errors.JOSEError ? error.code : undefined;
    const isUnknown =
      code === errors.JWKSNoMatchingKey.code || code === errors.JWKSMultipleMatchingKeys.code;
    return isUnknown ? "unknown-key" : "bad-signature";
  }
}

function refused(problem: AssertionProblem): AssertionOutcome {
  return { kind: "refused", problem };
}
