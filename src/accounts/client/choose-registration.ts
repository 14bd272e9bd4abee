/** How the gateway becomes a client of an authorization server (2026-07-28, client registration). */

import type { ServerMetadata } from "../discovery/server-metadata.ts";
import type { ResolvedSettings } from "../vendor-defaults.ts";
import { clientMetadataUrl } from "./client-metadata.ts";

export type RegistrationChoice =
  /** The operator has entered the client. */
  | { readonly way: "preregistered"; readonly clientId: string }
  /** The address of the gateway's own metadata document is its id. */
  | {
      readonly way: "cimd";
      readonly clientId: string;
      readonly method: "none" | "private_key_jwt";
    }
  | { readonly way: "dcr"; readonly endpoint: string }
  /** The operator has to enter a client. */
  | { readonly way: "operator" };

export interface RegistrationRequest {
  readonly settings: ResolvedSettings;
  readonly metadata: ServerMetadata;
  readonly origin: string;
  /** False as long as the gateway publishes no key of its own. */
  readonly canSign?: boolean;
}

/** @returns the first of the ways, in the operator's or the specification's order, that is open. */
export function chooseRegistration(request: RegistrationRequest): RegistrationChoice {
  const { clientId, registration } = request.settings;
  for (const way of registration) {
    if (way === "preregistered" && clientId !== undefined) return { way, clientId };
    const document = way === "cimd" ? documentFor(request) : undefined;
    if (document !== undefined) return document;
    const { registration_endpoint: endpoint } = request.metadata;
    if (way === "dcr" && endpoint !== undefined) return { way, endpoint };
  }
  return { way: "operator" };
}

/** The document with a key is for servers that list `private_key_jwt` and not `none`. */
function documentFor(request: RegistrationRequest): RegistrationChoice | undefined {
  const { settings, metadata, origin, canSign = false } = request;
  if (metadata.client_id_metadata_document_supported !== true) return undefined;
  const own = settings.clientMetadataUrl;
  if (own !== undefined) return { way: "cimd", clientId: own, method: "none" };
  const offered = metadata.token_endpoint_auth_methods_supported ?? ["none"];
  const isSigning = canSign && offered.includes("private_key_jwt") && !offered.includes("none");
  const method = isSigning ? "private_key_jwt" : "none";
  const clientId = clientMetadataUrl(origin, method);
  return clientId === undefined ? undefined : { way: "cimd", clientId, method };
}
