/** Client documents on the database of a real object, a clock, and a network that the test plays. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

import {
  type Asker,
  ClientDocuments,
  type ClientDocumentsOptions,
} from "../../../../src/auth/clients/client-documents.ts";
import type { DocumentOutcome } from "../../../../src/auth/clients/client-documents.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export type Played = (url: string, init: RequestInit) => Response | Promise<Response>;

export class DocumentsFixture {
  documents: ClientDocuments;
  now = 1_000_000 * HOUR;
  /** Every address that was asked, in order. */
  readonly hits: string[] = [];
  /** What the network answers. */
  play: Played = () => new Response(null, { status: 404 });
  readonly #storage: SqlStorage;
  readonly #policy: ClientDocumentsOptions["policy"];

  constructor(storage: SqlStorage, policy: Partial<ClientDocumentsOptions["policy"]>) {
    this.#storage = storage;
    this.#policy = { ownHosts: new Set(["gateway.example"]), ...policy };
    this.documents = this.again();
  }

  /** Another life of the object. */
  again(): ClientDocuments {
    this.documents = new ClientDocuments({
      ...{ sql: this.#storage, policy: this.#policy, now: () => this.now },
      fetch: async (url, init) => {
        this.hits.push(url.href);
        return this.play(url.href, init);
      },
    });
    return this.documents;
  }

  /** Serves a good document at every address. */
  serve(members: object = {}, headers: Record<string, string> = {}): void {
    this.play = (url) => Response.json(documentAt(url, members), { headers });
  }

  serveStatus(status: number): void {
    this.play = () => Response.json({}, { status });
  }

  load(url: string, asker?: Partial<Asker>): Promise<DocumentOutcome> {
    return this.documents.load(
      url,
      asker && { address: "somewhere", mayLoad: () => true, ...asker },
    );
  }

  rows(): string[] {
    const rows = this.#storage.exec<{ url: string }>("SELECT url FROM documents_1 ORDER BY url");
    return Array.from(rows, ({ url }) => url);
  }

  /** Many failures in one statement, all due at one time. */
  fill(count: number, due: number): void {
    this.#storage.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO documents_1 (url, failure, next) SELECT 'filled-' || i, 'gone', ? FROM n`,
      ...[count, due],
    );
  }
}

export function documentAt(url: string, members: object = {}): object {
  const redirectUris = [new URL("/cb", url).href];
  return { client_id: url, client_name: "A client", redirect_uris: redirectUris, ...members };
}

export function withDocuments<T>(
  act: (fixture: DocumentsFixture) => Promise<T>,
  policy: Partial<ClientDocumentsOptions["policy"]> = {},
): Promise<T> {
  const object = env.SESSIONS.get(env.SESSIONS.newUniqueId());
  return runInDurableObject(object, (_instance, { storage }) =>
    act(new DocumentsFixture(storage.sql, policy)),
  );
}

/** An outcome in one word. */
export function word(outcome: DocumentOutcome): string {
  if (outcome.kind === "client") return outcome.isStale ? "stale" : "fresh";
  return outcome.kind === "busy" ? "busy" : outcome.reason;
}

export const name = (outcome: DocumentOutcome): string | undefined =>
  outcome.kind === "client" ? outcome.client.clientName : undefined;
export const digest = (outcome: DocumentOutcome): string | undefined =>
  outcome.kind === "client" ? outcome.digest : undefined;
