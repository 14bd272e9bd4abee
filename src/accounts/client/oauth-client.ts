/** The gateway as a client of one authorization server, and how it proves that (RFC 6749 section 2.3). */

import { type ClientAuth, None, PrivateKeyJwt } from "oauth4webapi";

import { basicCredentials, secretMethod } from "../../lib/client-secret.ts";
import type { ClientAuthMethod, OAuthSettings } from "../settings.ts";

export interface OAuthClient {
  readonly id: string;
  readonly method: ClientAuthMethod;
  /** May be there with method `none`, too: some servers demand it all the same. */
  readonly secret?: string | undefined;
  /** For `private_key_jwt`. */
  readonly key?: { readonly key: CryptoKey; readonly kid?: string } | undefined;
}

/** @returns the function with which the library authenticates each request. */
export function clientAuthentication(client: OAuthClient): ClientAuth {
  const { id, secret = "", key } = client;
  switch (client.method) {
    case "none":
      return None();
    case "client_secret_basic":
    case "client_secret_basic_raw": {
      // The library's own encodes `-_.` as well, which servers that do not decode refuse.
      const isRaw = client.method === "client_secret_basic_raw";
      const value = basicCredentials({ id, secret }, isRaw);
      return (_server, _client, _body, headers) => headers.set("authorization", value);
    }
    case "client_secret_post":
      return (_server, _client, body) => {
        body.set("client_id", id);
        body.set("client_secret", secret);
      };
    case "private_key_jwt":
      if (key === undefined) throw new TypeError("private_key_jwt needs a key");
      return PrivateKeyJwt({ key: key.key, ...(key.kid !== undefined && { kid: key.kid }) });
  }
}

/** The method of the client that the operator has entered. */
export function configuredMethod(
  { clientId = "", clientSecret, clientAuth, privateKey }: OAuthSettings,
  offered: readonly string[] | undefined,
): ClientAuthMethod {
  if (clientAuth !== undefined) return clientAuth;
  if (clientSecret !== undefined)
    return secretMethod({ id: clientId, secret: clientSecret }, offered);
  return privateKey === undefined ? "none" : "private_key_jwt";
}

/** PKCS #8 in PEM (RFC 7468 section 10). */
const PEM_FRAME = /-----(?:BEGIN|END) PRIVATE KEY-----/g;
/** The algorithms that a key may sign with: ES256 and RS256 (RFC 7518 sections 3.3 and 3.4). */
const KEY_ALGORITHMS = [
  { name: "ECDSA", namedCurve: "P-256" },
  { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
] as const;

/**
 * @param pem PKCS #8; the kind of the key says whether it signs with ES256 or RS256.
 * @throws TypeError for any other key.
 */
export async function importClientKey(pem: string): Promise<CryptoKey> {
  for (const algorithm of KEY_ALGORITHMS) {
    try {
      const bytes = Uint8Array.from(atob(pem.replace(PEM_FRAME, "")), (char) => char.charCodeAt(0));
      // oxlint-disable-next-line no-await-in-loop -- the second one is tried if it is not the first
      return await crypto.subtle.importKey("pkcs8", bytes, algorithm, false, ["sign"]);
    } catch {
      // It is of the other kind, or none at all.
    }
  }
  throw new TypeError("The key is no PKCS #8 key for ES256 or RS256");
}
