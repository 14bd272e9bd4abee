/**
 * The requesting application, as its registration or its document describes it, and the host that
 * vouches for it.
 */

import { hashOf } from "../../lib/random.ts";
import type { AuthContext } from "../context/context.ts";
import type { Asker } from "../clients/client-documents.ts";
import { isDocumentUrl } from "../clients/client-id-url.ts";

export interface AskingClient {
  readonly id: string;
  /** The name that the application gives itself: untrusted text. */
  readonly name: string;
  /** The host that serves its document; a registered application has none. */
  readonly verifiedHost?: string;
  /** A digest of what a user approves: the name, the redirect URIs, the client authentication. */
  readonly digest: string;
}

export interface FoundClient {
  readonly kind: "client";
  readonly client: AskingClient;
  /** Its redirect URIs. An attempt stores only their digest, because there can be many. */
  readonly redirectUris: readonly string[];
}

export type ClientSearch =
  | FoundClient
  | { readonly kind: "unknown" }
  | { readonly kind: "refused"; readonly reason: string; readonly sentence: string }
  | { readonly kind: "busy"; readonly retryAfterSeconds: number };

/**
 * @param asker the person for whom a document is loaded; without one, it has been loaded already.
 */
export async function findClient(
  { store, authority, engine }: AuthContext,
  clientId: string,
  asker?: Asker,
): Promise<ClientSearch> {
  if (isDocumentUrl(clientId)) {
    const { documents } = store.ofDocument(clientId);
    const found = await (asker === undefined
      ? documents.find(clientId)
      : documents.load(clientId, asker));
    if (found.kind !== "client") return found;
    const { client, digest, host } = found;
    const { clientName: name, redirectUris } = client;
    const asking = { id: clientId, name, digest, verifiedHost: host };
    return { kind: "client", client: asking, redirectUris };
  }
  const client = await authority.helpers(engine).lookupClient(clientId);
  if (client === null) return { kind: "unknown" };
  const { clientName = "", redirectUris, tokenEndpointAuthMethod } = client;
  const said = [clientName, redirectUris.toSorted(), tokenEndpointAuthMethod];
  const digest = await hashOf(JSON.stringify(said));
  return { kind: "client", client: { id: clientId, name: clientName, digest }, redirectUris };
}
