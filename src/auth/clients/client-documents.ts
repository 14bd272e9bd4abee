/**
 * The metadata documents of the clients whose id is a URL, one object for each share of them. A
 * document is loaded when its client comes, kept as long as its server allows, and kept for a while
 * longer when the server fails. Anyone can name any URL here, so concurrent requests share one
 * load, failures are remembered, and the loads of unknown documents are limited for each host and
 * address; no address can use up the limit of a host. A kept document is loaded anew whenever it is
 * due.
 */

import {
  type EgressPolicy,
  judgeEgress,
  type LoadFailure,
  loadJson,
  type LoadOptions,
} from "../../lib/egress.ts";
import type { Sql } from "../../lib/sql.ts";
import { TokenBuckets } from "../../lib/token-bucket.ts";
import {
  type ClientRecord,
  documentDigestOf,
  type DocumentProblem,
  parseClientDocument,
} from "./client-document.ts";
import { judgeClientIdUrl } from "./client-id-url.ts";
import { type DocumentRow, DocumentRows } from "./document-rows.ts";
import { knownDocument } from "./known-documents.ts";

/** For the log and the operator; a person who is not signed in gets the sentence. */
export type DocumentRefusal = "bad-url" | "not-accepted" | LoadFailure | DocumentProblem;

export type DocumentOutcome =
  | {
      readonly kind: "client";
      readonly client: ClientRecord;
      readonly digest: string;
      /** The host that vouches for the client, to be shown to the person who approves it. */
      readonly host: string;
      /** The document could not be loaded anew, and an earlier one stands in. */
      readonly isStale: boolean;
    }
  | {
      readonly kind: "refused";
      readonly reason: DocumentRefusal;
      readonly sentence: string;
      /** Nothing is known against the client: the next load may find the document. */
      readonly isPassing: boolean;
    }
  /** Too many loads in a short time. */
  | { readonly kind: "busy"; readonly retryAfterSeconds: number };

export interface DocumentPolicy extends EgressPolicy {
  /** The hosts whose documents are accepted: every host without it, none if it is empty. */
  readonly acceptedHosts?: ReadonlySet<string>;
}

export interface ClientDocumentsOptions {
  readonly sql: Sql;
  readonly fetch: LoadOptions["fetch"];
  readonly policy: DocumentPolicy;
  readonly now?: () => number;
}

/** A person who is signing in and who may have made the URL up. */
export interface Asker {
  readonly address: string;
  /** Called before a load: `false` when this address has caused enough loads. */
  readonly mayLoad: () => boolean | Promise<boolean>;
}

const NO_ASKER: Asker = { address: "", mayLoad: () => false };

const MINUTE_MS = 60_000;
/** A document is a few hundred bytes, and this is the limit that the draft recommends. */
const MAX_BYTES = 5 * 1024;
const TIMEOUT_MS = 10_000;
const FAILURE_MS = MINUTE_MS;
const STALE_MS = 7 * 24 * 60 * MINUTE_MS;
/** Loads of unknown documents in a minute: by all addresses together, and by one address. */
const LOADS_PER_HOST = 10;
const LOADS_PER_HOST_AND_ADDRESS = 3;
/**
 * As many again are reserved for addresses that have caused no load of this host in the last
 * minute: the addresses that used up the common limit have all been counted by then, and get none
 * of these.
 */
const LOADS_PER_HOST_OF_NEW_ADDRESSES = 10;
const MAX_BUCKETS = 5000;
const MAX_ROWS = 5000;
const RETRY_AFTER_SECONDS = 60;
/** No server is asked more often than this, whatever it declares. */
const LEAST_MS = 5 * MINUTE_MS;
const USUAL_MS = 60 * MINUTE_MS;
/** A client that changes its keys or redirect URIs is known by them within a day. */
const MOST_MS = 24 * 60 * MINUTE_MS;

/**
 * Failures on the way to the document. They say nothing about the client, so the last known
 * document stands in. A document that is gone, or is no longer a client's, is final.
 */
const PASSING: ReadonlySet<string | undefined> = new Set<LoadFailure>([
  ...(["unreachable", "timeout", "redirect", "status", "media-type"] as const),
]);

export class ClientDocuments {
  readonly #rows: DocumentRows;
  readonly #fetch: LoadOptions["fetch"];
  readonly #policy: DocumentPolicy;
  readonly #now: () => number;
  /** Concurrent requests for a document share one load: this object serves all of them. */
  readonly #flights = new Map<string, Promise<DocumentOutcome>>();
  readonly #buckets: TokenBuckets;

  constructor({ sql, fetch, policy, now = () => Date.now() }: ClientDocumentsOptions) {
    this.#rows = new DocumentRows(sql);
    this.#fetch = fetch;
    this.#policy = policy;
    this.#now = now;
    this.#buckets = new TokenBuckets(MAX_BUCKETS, now);
  }

  /**
   * @param clientId as the request has it: no value makes this throw.
   * @param asker not needed for a client that a user has approved.
   */
  async load(clientId: string, asker?: Asker): Promise<DocumentOutcome> {
    const reason = this.#judge(clientId);
    if (reason !== undefined) return documentRefused(reason);
    const row = this.#rows.get(clientId);
    if (row !== undefined && row.nextAt > this.#now()) return this.#answer(clientId, row);
    const flight = this.#flights.get(clientId);
    if (flight !== undefined) return flight;
    const isKept = row?.kept !== undefined;
    if (!isKept && asker !== undefined && !(await asker.mayLoad())) {
      return this.#busy(clientId, row);
    }
    // Another load may have begun meanwhile.
    const begun = this.#flights.get(clientId);
    if (begun !== undefined) return begun;
    const isLet = isKept || this.#isLet(clientId, asker);
    return isLet ? this.#begin(clientId) : this.#busy(clientId, row);
  }

  /** For a request that follows a successful load: an unknown document is not loaded. */
  find(clientId: string): Promise<DocumentOutcome> {
    return this.load(clientId, NO_ASKER);
  }

  /** Deletes the documents that will be served no more. */
  sweep(): void {
    const now = this.#now();
    this.#rows.sweep({ now, loadedBefore: now - STALE_MS, maxRows: MAX_ROWS });
  }

  #judge(clientId: string): DocumentRefusal | undefined {
    if (judgeClientIdUrl(clientId) !== undefined) return "bad-url";
    const url = new URL(clientId);
    if (this.#policy.acceptedHosts?.has(url.hostname) === false) return "not-accepted";
    return judgeEgress(url, this.#policy) === undefined ? undefined : "refused";
  }

  /**
   * The address first: a request over the share of its address uses nothing of the common limit.
   */
  #isLet(clientId: string, asker: Asker | undefined): boolean {
    const host = new URL(clientId).hostname;
    const ofAll = this.#buckets.of(host, LOADS_PER_HOST);
    if (asker === undefined) return ofAll.take();
    const own = `${host} ${asker.address}`;
    if (!this.#buckets.of(own, LOADS_PER_HOST_AND_ADDRESS).take()) return false;
    const isNew = this.#buckets.of(`${own} new`, 1).take();
    if (ofAll.take()) return true;
    return isNew && this.#buckets.of(`${host} new`, LOADS_PER_HOST_OF_NEW_ADDRESSES).take();
  }

  #begin(clientId: string): Promise<DocumentOutcome> {
    const flight = this.#load(clientId).finally(() => this.#flights.delete(clientId));
    this.#flights.set(clientId, flight);
    return flight;
  }

  async #load(clientId: string): Promise<DocumentOutcome> {
    const loaded = await loadJson(new URL(clientId), {
      fetch: this.#fetch,
      policy: this.#policy,
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
    if (loaded.kind === "failed") return this.#fail(clientId, loaded.why);
    const parsed = parseClientDocument(clientId, loaded.value);
    if (parsed.kind === "refused") return this.#fail(clientId, parsed.problem);
    const digest = await documentDigestOf(parsed.client);
    const now = this.#now();
    const kept = { client: parsed.client, digest, loadedAt: now };
    const row = { kept, failure: undefined, nextAt: now + freshMs(loaded.headers) };
    this.#rows.put(clientId, row);
    return this.#answer(clientId, row);
  }

  #fail(clientId: string, failure: DocumentRefusal): Promise<DocumentOutcome> {
    const kept = PASSING.has(failure) ? this.#rows.get(clientId)?.kept : undefined;
    const row = { kept, failure, nextAt: this.#now() + FAILURE_MS };
    this.#rows.put(clientId, row);
    return this.#answer(clientId, row);
  }

  async #answer(clientId: string, row: DocumentRow): Promise<DocumentOutcome> {
    const { kept, failure } = row;
    if (kept !== undefined && failure === undefined) return asClient(kept.client, kept.digest);
    // Only `#fail` writes a failure.
    return (await this.#standIn(clientId, row)) ?? documentRefused(failure as DocumentRefusal);
  }

  async #busy(clientId: string, row: DocumentRow | undefined): Promise<DocumentOutcome> {
    const standIn = await this.#standIn(clientId, row);
    return standIn ?? { kind: "busy", retryAfterSeconds: RETRY_AFTER_SECONDS };
  }

  /**
   * The stand-in for a document that is not available: the last one, or the copy of a known one.
   */
  async #standIn(
    clientId: string,
    row: DocumentRow | undefined,
  ): Promise<DocumentOutcome | undefined> {
    const { kept, failure } = row ?? {};
    if (failure !== undefined && !PASSING.has(failure)) return undefined;
    if (kept !== undefined && kept.loadedAt > this.#now() - STALE_MS) {
      return asClient(kept.client, kept.digest, true);
    }
    const known = parseClientDocument(clientId, knownDocument(clientId));
    if (known.kind === "refused") return undefined;
    return asClient(known.client, await documentDigestOf(known.client), true);
  }
}

/** The client may learn what is wrong with an id, but not how an address answered. */
const SENTENCES: Readonly<Partial<Record<DocumentRefusal, string>>> = {
  "bad-url": "The client id is not the address of a metadata document.",
  "not-accepted": "Clients of this host are not accepted here.",
};
const NOT_LOADED = "The metadata document of the client could not be loaded.";

function asClient(client: ClientRecord, digest: string, isStale = false): DocumentOutcome {
  return { kind: "client", client, digest, host: new URL(client.clientId).hostname, isStale };
}

function documentRefused(reason: DocumentRefusal): DocumentOutcome {
  const sentence = SENTENCES[reason] ?? NOT_LOADED;
  return { kind: "refused", reason, sentence, isPassing: PASSING.has(reason) };
}

/**
 * @returns the freshness lifetime of a document in milliseconds: as its server declares it (RFC
 *   9111, 5.2.2), within our bounds.
 */
function freshMs(headers: Headers): number {
  const directives = (headers.get("cache-control") ?? "")
    .split(",")
    .map((directive) => directive.trim().toLowerCase());
  if (directives.some((name) => /^(?:no-cache|no-store|private)\b/.test(name))) return LEAST_MS;
  const seconds = age(directives, "s-maxage") ?? age(directives, "max-age");
  if (seconds === undefined) return USUAL_MS;
  return Math.min(Math.max(seconds * 1000, LEAST_MS), MOST_MS);
}

function age(directives: readonly string[], name: string): number | undefined {
  const value = directives.find((directive) => directive.startsWith(`${name}=`));
  const [, digits] = /="?(\d+)"?$/.exec(value ?? "") ?? [];
  return digits === undefined ? undefined : Number(digits);
}
