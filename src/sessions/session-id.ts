/**
 * A session id holds all facts that are needed before the session's object is woken, sealed so that only
 * the gateway can make or read one. It travels in a header of every request.
 */

import { BoundedCache } from "../lib/bounded-cache.ts";
import { type Keyring, seal, sealedWith, unseal } from "../lib/seal.ts";
import { parseLossless } from "../lib/lossless-json.ts";
import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import { isLegacyRevision } from "../protocol/revisions.ts";
import { shortInfo } from "../protocol/envelope.ts";
import type { ClientFacts } from "./dispatch.ts";
import type { SessionKeys } from "../endpoint/keyring.ts";

export interface SessionClaims {
  /** The id of the session's Durable Object. */
  readonly object: string;
  readonly principal: string;
  /** The path of the endpoint that opened the session; no other endpoint serves it. */
  readonly route: string;
  /** The client as `initialize` described it. Absent with HTTP+SSE, which mints the id before that. */
  readonly client?: ClientFacts;
  /**
   * The person who calls, where servers know people by their accounts: passed to the session's object
   * with each request, and no part of the id.
   */
  readonly person?: string | undefined;
  /** The application of that person, and the gateway's origin as they know it; passed in the same way. */
  readonly application?: string | undefined;
  readonly origin?: string | undefined;
  /** What that person publishes; passed in the same way. */
  readonly published?: PublishedNames | undefined;
  /** That person runs the gateway; passed in the same way, where administrators are told more. */
  readonly isAdmin?: boolean | undefined;
  /** Seconds since 1970, as `expiresAt` is. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export interface PublishedNames {
  /** Grows with each change. */
  readonly version: number;
  readonly names: readonly string[];
}

const PURPOSE = "session-id";
const VERSION = 1;
/**
 * Node's servers and clients accept 16 KiB of headers in total; the client's facts take 2.7 KiB of that
 * once they are sealed.
 */
const MAX_FACTS_BYTES = 2048;

/** Number of cached ids; an id of 4 KiB decodes to about as much again. */
const MAX_OPENED = 1000;
const OPENED_TTL_MS = 600_000;
/**
 * The claims of ids that were opened lately, since a client sends the same id with every request. They
 * are kept by keyring: a keyring that is replaced takes its cache with it.
 */
const opened = new WeakMap<Keyring, BoundedCache<SessionClaims>>();

/** The id is made of letters, digits, `.`, `_` and `-`. */
export function mintSessionId(ring: Keyring, claims: SessionClaims): Promise<string> {
  return seal(
    ring,
    PURPOSE,
    encode({
      ...claims,
      ...{ person: undefined, application: undefined, origin: undefined, isAdmin: undefined },
      published: undefined,
    }),
  );
}

/**
 * @param now seconds since 1970.
 * @returns `undefined` for an id that is forged, malformed or expired.
 * @throws the key source's error when the keys are not available: then the id cannot be judged.
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
  // Only ids that opened are cached: anyone can make up others.
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

/** The claims as they go to the session's object, on its way from the Worker. */
export function writeClaims(claims: SessionClaims): string {
  return JSON.stringify(encode(claims));
}

/** Reads what `writeClaims` wrote: only this gateway's Workers reach its objects. */
export function readClaims(text: string): SessionClaims {
  const claims = decode(parseLossless(text));
  if (claims === undefined)
    throw new TypeError("Another version of the gateway wrote these claims");
  return claims;
}

/** @returns the facts in a form that fits a session id, or one sentence on why they do not fit. */
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

/** Uses names of one letter, since each is sent with every request. */
function encode(claims: SessionClaims): object {
  const { object, principal, route, client, issuedAt, expiresAt } = claims;
  const { person, application, origin, isAdmin, published } = claims;
  return {
    v: VERSION,
    o: object,
    p: principal,
    r: route,
    ...(client !== undefined && {
      c: { r: client.revision, c: client.capabilities, i: client.clientInfo },
    }),
    ...(person !== undefined && { u: person }),
    ...(application !== undefined && { a: application }),
    ...(origin !== undefined && { g: origin }),
    ...(isAdmin === true && { m: true }),
    ...(published !== undefined && { b: [published.version, ...published.names] }),
    i: issuedAt,
    e: expiresAt,
  };
}

/** Checks every member: another version of this code may have sealed the id. */
function decode(value: unknown): SessionClaims | undefined {
  if (!isObject(value) || value["v"] !== VERSION) return undefined;
  const {
    o: object,
    p: principal,
    r: route,
    c,
    u: person,
    a: application,
    g: origin,
    m: isAdmin,
    b: published,
    i: issuedAt,
    e: expiresAt,
  } = value;
  if (typeof object !== "string" || typeof principal !== "string") return undefined;
  if (typeof route !== "string") return undefined;
  if (typeof issuedAt !== "number" || typeof expiresAt !== "number") return undefined;
  const of = {
    ...(typeof person === "string" && { person }),
    ...(typeof application === "string" && { application }),
    ...(typeof origin === "string" && { origin }),
    ...(isAdmin === true && { isAdmin }),
    ...(Array.isArray(published) && { published: decodePublished(published) }),
  };
  const claims = { object, principal, route, ...of, issuedAt, expiresAt };
  if (c === undefined) return claims;
  const client = decodeFacts(c);
  return client === undefined ? undefined : { ...claims, client };
}

function decodePublished([version, ...names]: readonly unknown[]): PublishedNames {
  return { version: Number(version), names: names.filter((name) => typeof name === "string") };
}

function decodeFacts(value: unknown): ClientFacts | undefined {
  if (!isObject(value)) return undefined;
  const { r: revision, c: capabilities, i: clientInfo }: JsonObject = value;
  if (!isLegacyRevision(revision)) return undefined;
  if (!isObject(capabilities) || !isObject(clientInfo)) return undefined;
  return { revision, capabilities, clientInfo };
}
