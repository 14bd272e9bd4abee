/** What a real `oidc-provider` remembers, in memory; and its clients, whose callbacks tests add. */

interface Payload {
  readonly [key: string]: unknown;
  readonly accountId?: string;
  readonly grantId?: string;
  readonly uid?: string;
  consumed?: number;
}

export class OidcStore {
  readonly #rows = new Map<string, Map<string, Payload>>();
  readonly #client: Payload & { readonly client_id: string; readonly redirect_uris: string[] };

  constructor(client: { client_id: string; client_secret: string }) {
    this.#client = {
      ...client,
      redirect_uris: [],
      response_types: ["code"],
      grant_types: ["authorization_code", "refresh_token"],
    };
  }

  allow(redirectUri: string): void {
    this.#client.redirect_uris.push(redirectUri);
  }

  /** Everything about a person is gone: sessions, grants and tokens. */
  forget(accountId: string): void {
    for (const rows of this.#rows.values()) {
      for (const [id, row] of rows) if (row.accountId === accountId) rows.delete(id);
    }
  }

  /** The port that the package asks for, one instance for each of its models. */
  adapter(model: string) {
    const rows = this.#rowsOf(model);
    const client = this.#client;
    return {
      async find(id: string): Promise<Payload | undefined> {
        return model === "Client" ? (id === client.client_id ? client : undefined) : rows.get(id);
      },
      async findByUid(uid: string): Promise<Payload | undefined> {
        return [...rows.values()].find((row) => row.uid === uid);
      },
      async findByUserCode(): Promise<undefined> {},
      async upsert(id: string, payload: Payload): Promise<void> {
        rows.set(id, payload);
      },
      async consume(id: string): Promise<void> {
        const row = rows.get(id);
        if (row !== undefined) row.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id: string): Promise<void> {
        rows.delete(id);
      },
      async revokeByGrantId(grantId: string): Promise<void> {
        for (const [id, row] of rows) if (row.grantId === grantId) rows.delete(id);
      },
    };
  }

  #rowsOf(model: string): Map<string, Payload> {
    const rows = this.#rows.get(model) ?? new Map<string, Payload>();
    this.#rows.set(model, rows);
    return rows;
  }
}
