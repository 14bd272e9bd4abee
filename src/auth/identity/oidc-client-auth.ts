/** How the gateway proves to a provider that it is the client that was registered there. */

import {
  type AuthorizationServer,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  None,
} from "oauth4webapi";

import type { OidcConfig } from "./oidc-traits.ts";

export function clientAuthOf(
  { clientSecret, clientAuth }: Pick<OidcConfig, "clientSecret" | "clientAuth">,
  { token_endpoint_auth_methods_supported: methods }: AuthorizationServer,
): ClientAuth {
  if (clientSecret === undefined) return None();
  // RFC 8414: a server that says nothing takes Basic.
  const takesBasic = methods?.includes("client_secret_basic") ?? true;
  const method = clientAuth ?? (takesBasic ? "client_secret_basic" : "client_secret_post");
  return method === "client_secret_basic"
    ? ClientSecretBasic(clientSecret)
    : ClientSecretPost(clientSecret);
}
