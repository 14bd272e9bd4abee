/**
 * What a session id says: everything that must be known of a session before its object is woken,
 * sealed so that nobody else can make or read one. It travels in a header of every request.
 */

import { BoundedCache } from "../lib/bounded-cache.ts";
import { type Keyring, seal, sealedWith, unseal } from "../lib/seal.ts";
import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import { isLegacyRevision } from "../protocol/revisions.ts";
import { shortInfo } from "../protocol/short-info.ts";
import type { ClientFacts } from "./dispatch.ts";
import type { SessionKeys } from "../endpoint/keyring.ts";

export interface SessionClaims {
  /** The id of the object that holds what the session has. */
  readonly object: string;
  readonly principal: string;
  /** The endpoint it was opened at: served there and nowhere else. */
  readonly route: string;
  /** What `initialize` fixed. HTTP+SSE mints its id before that. */
  readonly client?: ClientFacts;
  /** Seconds since 1970, as `expiresAt` is. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

const PURPOSE = "session-id";
const VERSION = 1;
/**
 * Node's servers and clients take 16 KiB of headers altogether; of that, the client's facts have
 * 2.7 KiB once they are sealed.
 */
const MAX_FACTS_BYTES = 2048;

/** Of ids, not of what they say: one of 4 KiB stands for as much again. */
const MAX_OPENED = 1000;
const OPENED_TTL_MS = 600_000;
/**
 * What ids were found to say, since a client sends the same one with every request. By the ring that
 * opened them: one that is replaced takes with it what its keys have opened.
 */
const opened = new WeakMap<Keyring, BoundedCache<SessionClaims>>();

/** The id is made of letters, digits, `.`, `_` and `-`. */
export function mintSessionId(ring: Keyring, claims: SessionClaims): Promise<string> {
  return seal(ring, PURPOSE, encode(claims));
}

/**
 * @param now seconds since 1970.
 * @returns `undefined` for an id that is forged, malformed or expired. Rejects when the keys cannot
 *   be had: then nobody knows what the id is.
 */
export async function readSessionId(
  keys: SessionKeys,
  text: string,
  now: number,
): Promise<SessionClaims | undefined> {
  const keyId = sealedWith(text);
  if (keyId === undefined) return undefined;
  const claims = await open(await keys.keyringFor(keyId), text);
  return claims !== undefined && claims.expiresAt > now ? claims : undefined;
}

async function open(ring: Keyring, text: string): Promise<SessionClaims | undefined> {
  const known = opened.get(ring)?.get(text);
  if (known !== undefined) return known;
  const claims = decode(await unseal(ring, PURPOSE, text));
  // Nobody else's text is kept: anyone can make one up.
  if (claims !== undefined) openedBy(ring).set(text, claims);
  return claims;
}

function openedBy(ring: Keyring): BoundedCache<SessionClaims> {
  const known = opened.get(ring);
  if (known !== undefined) return known;
  const cache = new BoundedCache<SessionClaims>({ maxEntries: MAX_OPENED, ttlMs: OPENED_TTL_MS });
  opened.set(ring, cache);
  return cache;
}

/** @returns the facts as a session id can carry them, or one sentence on why it cannot. */
export function boundFacts(client: ClientFacts): ClientFacts | string {
  if (bytesOf(client) <= MAX_FACTS_BYTES) return client;
  const short = { ...client, clientInfo: shortInfo(client.clientInfo) };
  const bytes = bytesOf(short);
  if (bytes <= MAX_FACTS_BYTES) return short;
  return `params.capabilities and params.clientInfo come to ${bytes} bytes of JSON; at most ${MAX_FACTS_BYTES} are allowed`;
}

function bytesOf(client: ClientFacts): number {
  return new TextEncoder().encode(JSON.stringify(client)).length;
}

/** Names of one letter, since each of them is in every request. */
function encode({ object, principal, route, client, issuedAt, expiresAt }: SessionClaims): object {
  return {
    v: VERSION,
    o: object,
    p: principal,
    r: route,
    ...(client !== undefined && {
      c: { r: client.revision, c: client.capabilities, i: client.clientInfo },
    }),
    i: issuedAt,
    e: expiresAt,
  };
}

/** What is sealed is ours, but another version of this code may have sealed it. */
function decode(value: unknown): SessionClaims | undefined {
  if (!isObject(value) || value["v"] !== VERSION) return undefined;
  const { o: object, p: principal, r: route, c, i: issuedAt, e: expiresAt } = value;
  if (typeof object !== "string" || typeof principal !== "string") return undefined;
  if (typeof route !== "string") return undefined;
  if (typeof issuedAt !== "number" || typeof expiresAt !== "number") return undefined;
  const claims = { object, principal, route, issuedAt, expiresAt };
  if (c === undefined) return claims;
  const client = decodeFacts(c);
  return client === undefined ? undefined : { ...claims, client };
}

function decodeFacts(value: unknown): ClientFacts | undefined {
  if (!isObject(value)) return undefined;
  const { r: revision, c: capabilities, i: clientInfo }: JsonObject = value;
  if (!isLegacyRevision(revision)) return undefined;
  if (!isObject(capabilities) || !isObject(clientInfo)) return undefined;
  return { revision, capabilities, clientInfo };
}
