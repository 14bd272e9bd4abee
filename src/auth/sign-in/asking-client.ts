/** The application that asks, as its registration or its document says, and who vouches for that. */

import { hashOf } from "../../lib/random.ts";
import type { AuthContext } from "../context/context.ts";
import type { Asker } from "../clients/client-documents.ts";
import { isDocumentUrl } from "../clients/client-id-url.ts";

export interface AskingClient {
  readonly id: string;
  /** What it calls itself: somebody else's words. */
  readonly name: string;
  /** The host that serves its document; a registered application has none. */
  readonly verifiedHost?: string;
  /** Of what a person agreed to: its name, where it listens, how it proves who it is. */
  readonly digest: string;
}

export interface FoundClient {
  readonly kind: "client";
  readonly client: AskingClient;
  /** Where it may be answered. Of these an attempt keeps the digest alone: there can be many. */
  readonly redirectUris: readonly string[];
}

export type ClientSearch =
  | FoundClient
  | { readonly kind: "unknown" }
  | { readonly kind: "refused"; readonly reason: string; readonly sentence: string }
  | { readonly kind: "busy"; readonly retryAfterSeconds: number };

/** @param asker whom a document is loaded for; without, it has been loaded for somebody already. */
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
