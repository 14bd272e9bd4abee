/**
 * An account as it is kept, without its secrets, and what may be done with it at a time. Pure: every
 * change gives a new record, which the vault writes before it does anything else. Times are in
 * milliseconds since 1970.
 */

import { pauseMs } from "../lib/backoff.ts";
import { fnv1a64 } from "../lib/fnv1a.ts";
import { type AccountEvent, type AccountLife, next } from "./account-state.ts";
import type { ClientAuthMethod, RegistrationWay } from "./settings.ts";
import type { Trouble } from "./trouble.ts";

/** How the gateway is known to the authorization server that the account is from. */
interface AccountClient {
  readonly id: string;
  readonly way: RegistrationWay;
  readonly method: ClientAuthMethod;
  /** Of a client that the gateway has registered: it is registered for this one. */
  readonly redirectUri?: string;
}

/** The authorization server that the account is from. Its tokens are sent nowhere else. */
export interface AccountIssuer {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint?: string | undefined;
  readonly client: AccountClient;
}

export interface Account {
  readonly slug: string;
  /** Random; another one each time that an account is connected. */
  readonly id: string;
  readonly kind: "oauth" | "key" | "client-credentials";
  readonly life: AccountLife;
  /** When that began: written with it. Absent from rows of earlier versions. */
  readonly lifeSince?: number | undefined;
  readonly trouble?: Trouble | undefined;
  /** The address of the server that the account is for: its credential is sent to no other. */
  readonly endpoint: string;
  /** Absent for an API key. */
  readonly issuer?: AccountIssuer | undefined;
  /** Sent as `resource` (RFC 8707). */
  readonly resource?: string | undefined;
  readonly requested: readonly string[];
  /** Of the gateway's own account: the operator's scopes when it was made. Absent from rows of earlier versions. */
  readonly configured?: readonly string[] | undefined;
  readonly granted: readonly string[];
  /** The scopes that the server has demanded in vain since. */
  readonly wanted: readonly string[];
  /** Grows with each new credential. */
  readonly generation: number;
  /** The server has refused the credential of this generation. */
  readonly refusedGeneration?: number | undefined;
  /** There is a refresh token, or none is needed. */
  readonly isRenewable: boolean;
  /** An answer that was lost does no harm: the refresh token is never replaced, or there is none. */
  readonly isRepeatable: boolean;
  /** When the request was sent that gave the credential. */
  readonly obtainedAt: number;
  /** Absent when the authorization server did not say: the credential is used until it is refused. */
  readonly expiresAt?: number | undefined;
  readonly refreshExpiresAt?: number | undefined;
  /** A server that refuses the credential until then would refuse another one, too. */
  readonly newUntil?: number | undefined;
  /** No request for a token before; while the server refuses the account, no request to that. */
  readonly restsUntil?: number | undefined;
  /** Requests for a token, in a row, that gave none. */
  readonly failures: number;
  /** The request for a token that was written down, and whose answer is not known. */
  readonly sent?: { readonly nonce: string; readonly at: number } | undefined;
  readonly connectedAt: number;
  /** To the hour. */
  readonly usedAt?: number | undefined;
  /** The last four characters of an API key. */
  readonly keyEnd?: string | undefined;
  /** The person who connected a shared account. */
  readonly connectedBy?: string | undefined;
}

/** A new token, as far as it is no secret. */
export interface NewToken {
  readonly expiresInMs?: number | undefined;
  readonly refreshExpiresInMs?: number | undefined;
  readonly granted?: readonly string[] | undefined;
  /** By which the authorization server has accepted the client: not always that of its registration. */
  readonly clientMethod?: ClientAuthMethod | undefined;
}

const MINUTE_MS = 60_000;
/** Between two requests for a token of one account. */
const BETWEEN_MS = 30_000;
/** The time for which a server that refuses a new credential is left alone. */
const REFUSED_MS = 60_000;
/**
 * A credential of this age that is refused again after a rest may have ended: not every authorization server
 * says when it does. A server that refuses a younger one would refuse the next one, too.
 */
const OLD_MS = 10 * MINUTE_MS;
/** A token that arrives with no more than this has ended when it is used: no clock renews it. */
const SHORT_MS = 30_000;
const MAX_EARLY_MS = 5 * MINUTE_MS;
const MAX_RETRY_AFTER_MS = 10 * MINUTE_MS;
const PAUSES = { firstMs: 5000, maxMs: 5 * MINUTE_MS };
const MAX_DOUBLINGS = 10;
/** A pause is up to a quarter longer, in as many steps. */
const SCATTER = 256n;

export type Decision =
  | { readonly kind: "use" }
  /** A new token is needed first. */
  | { readonly kind: "renew" }
  | { readonly kind: "later"; readonly until: number }
  /** Only the operator can help. */
  | { readonly kind: "operator" }
  /** The person has to connect the account. */
  | { readonly kind: "connect" };

export function decide(account: Account, now: number): Decision {
  switch (account.life) {
    case "refused":
    case "moved":
    case "ended":
      return { kind: "connect" };
    case "renewing":
    case "trying again":
      return { kind: "renew" };
    default:
      return decideInUse(account, now);
  }
}

function decideInUse(account: Account, now: number): Decision {
  const over = isOver(account, now);
  const isRenewedEarly = account.life !== "uncertain" && now >= renewalAt(account);
  const { restsUntil = 0 } = account;
  if (account.isRenewable && (over || isRenewedEarly) && now >= restsUntil)
    return { kind: "renew" };
  if (!over) return { kind: "use" };
  return account.life === "misconfigured"
    ? { kind: "operator" }
    : { kind: "later", until: restsUntil };
}

/** The credential is of no more use: it was refused, or its time is over. */
function isOver({ generation, refusedGeneration, ...account }: Account, now: number): boolean {
  return refusedGeneration === generation || (!isShort(account) && isPast(account.expiresAt, now));
}

function isShort({ expiresAt, obtainedAt }: Pick<Account, "expiresAt" | "obtainedAt">): boolean {
  return expiresAt !== undefined && expiresAt - obtainedAt <= SHORT_MS;
}

function isPast(time: number | undefined, now: number): boolean {
  return time !== undefined && now >= time;
}

/** When a new token is fetched although the credential has not ended: a lost answer then costs nothing. */
function renewalAt({ isRenewable, expiresAt, obtainedAt }: Account): number {
  if (!isRenewable || expiresAt === undefined || isShort({ expiresAt, obtainedAt }))
    return Infinity;
  const life = expiresAt - obtainedAt;
  return expiresAt - Math.min(Math.max(MINUTE_MS, life / 10), MAX_EARLY_MS);
}

/** When the alarm has to renew it; `Infinity` where nothing but a person, or a request, brings a new token. */
export function alarmAt(account: Account): number {
  if (account.life === "ended" || account.life === "moved") return Infinity;
  return Math.max(renewalAt(account), account.restsUntil ?? 0);
}

/** The account as the time that has passed leaves it; itself when nothing has changed. */
export function aged(account: Account, now: number): Account {
  if (account.life === "refused" && isPast(account.restsUntil, now)) {
    const isOld = now - account.obtainedAt >= OLD_MS;
    return after(account, "rested", {
      trouble: undefined,
      restsUntil: undefined,
      newUntil: isOld ? undefined : now + REFUSED_MS,
    });
  }
  if (account.isRenewable || !isOver(account, now)) return account;
  return after(account, "expired", { trouble: "ended" });
}

/** The account after its server has answered 401 to the credential of a generation. */
export function refusedBy(account: Account, generation: number, now: number): Account {
  // An older one was refused: there is a newer one already.
  if (generation !== account.generation) return account;
  const hasJustEnded = isShort(account) && isPast(account.expiresAt, now);
  const isNew = account.newUntil !== undefined && now < account.newUntil && !hasJustEnded;
  if (account.isRenewable && (!isNew || account.life === "uncertain")) {
    return { ...account, refusedGeneration: generation };
  }
  return after(account, "refused", { trouble: "refused", restsUntil: now + REFUSED_MS });
}

/** The request for a new token is about to be sent. */
export function sent(account: Account, nonce: string, now: number): Account {
  return after(account, "sent", { sent: { nonce, at: now } });
}

/** @param token the answer to the request that was `sent`. */
export function renewed(account: Account, token: NewToken, now: number): Account {
  const at = account.sent?.at ?? now;
  return after(account, "renewed", {
    ...timesOf(token, at),
    generation: account.generation + 1,
    granted: token.granted ?? account.granted,
    issuer: account.issuer && acceptedAt(account.issuer, token),
    newUntil: now + REFUSED_MS,
    restsUntil: at + BETWEEN_MS,
    failures: 0,
    refusedGeneration: undefined,
    sent: undefined,
    trouble: undefined,
  });
}

/** The next request authenticates the client as it was accepted, and not first as it was refused. */
export function acceptedAt(
  issuer: AccountIssuer,
  { clientMethod: method = issuer.client.method }: NewToken,
): AccountIssuer {
  return { ...issuer, client: { ...issuer.client, method } };
}

/** From when the request was sent: the life of a token begins before its answer arrives. */
export function timesOf(
  { expiresInMs, refreshExpiresInMs }: NewToken,
  at: number,
): Pick<Account, "obtainedAt" | "expiresAt" | "refreshExpiresAt"> {
  return {
    obtainedAt: at,
    expiresAt: expiresInMs === undefined ? undefined : at + expiresInMs,
    refreshExpiresAt: refreshExpiresInMs === undefined ? undefined : at + refreshExpiresInMs,
  };
}

/** @param retryAfterMs what the authorization server asks for. */
export function notProcessed(account: Account, now: number, retryAfterMs?: number): Account {
  const asked = Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  return failed(account, "not processed", { restsUntil: now + Math.max(asked, pauseOf(account)) });
}

/** Nobody knows whether the request that was `sent` was processed. */
export function unanswered(account: Account): Account {
  const event = account.isRepeatable ? "not processed" : "unanswered";
  const at = account.sent?.at ?? account.obtainedAt;
  return failed(account, event, { restsUntil: at + Math.max(BETWEEN_MS, pauseOf(account)) });
}

/** @param trouble what the operator has to look after. */
export function notAccepted(account: Account, trouble: Trouble, now: number): Account {
  const restsUntil = now + Math.max(MINUTE_MS, pauseOf(account));
  return failed(account, "not accepted", { trouble, restsUntil });
}

export function denied(account: Account, trouble: Trouble): Account {
  const why = account.life === "trying again" && trouble === "ended" ? "refresh-lost" : trouble;
  return after(account, "denied", { trouble: why, sent: undefined });
}

export function moved(account: Account): Account {
  return after(account, "moved", { trouble: "moved", sent: undefined });
}

/** Scattered by the account's id: those of everybody shall not come back at once. */
function pauseOf({ failures, id }: Account): number {
  const scatter = 1 + Number(fnv1a64(id) % SCATTER) / (4 * Number(SCATTER));
  return pauseMs(PAUSES, Math.min(failures, MAX_DOUBLINGS)) * scatter;
}

function failed(account: Account, event: AccountEvent, change: Partial<Account>): Account {
  const { failures } = account;
  return after(account, event, {
    trouble: "failing",
    ...change,
    failures: failures + 1,
    sent: undefined,
  });
}

/** @returns the account itself when the event comes too late. */
function after(account: Account, event: AccountEvent, change: Partial<Account>): Account {
  const life = next(account.life, event);
  if (life === undefined) return account;
  const isOther = life !== account.life;
  return { ...account, ...change, life, ...(isOther && { lifeSince: undefined }) };
}

/** True when requests go through with it now. */
export function isWorking({ life }: Account): boolean {
  return life === "connected" || life === "renewing";
}
