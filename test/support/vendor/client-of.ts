/** Which client a token request comes from, and whether it has proved so (RFC 6749 section 2.3, RFC 7523). */

import { importJWK, type JWK, jwtVerify } from "jose";

import type { Received } from "./answering.ts";
import { Refused } from "./grants.ts";
import type { VendorClient } from "./script.ts";

interface Shown {
  readonly id: string;
  readonly secret?: string;
  readonly method: string;
}

/** @throws Refused */
export async function clientOf(
  received: Received,
  find: (id: string) => VendorClient | undefined,
  { issuer, decodesBasic }: { readonly issuer: string; readonly decodesBasic: boolean },
): Promise<VendorClient> {
  const shown = shownBy(received, decodesBasic);
  const client = find(shown.id);
  if (client === undefined) throw new Refused("invalid_client", "The client is unknown", 401);
  const { clientSecret } = client;
  const usual = clientSecret === undefined ? "none" : "client_secret_basic";
  const method = client.method ?? usual;
  if (shown.method !== method || (method !== "private_key_jwt" && shown.secret !== clientSecret)) {
    throw new Refused("invalid_client", `The client has not proved itself by ${method}`, 401);
  }
  if (method === "private_key_jwt") {
    await checkAssertion(client, received.parameters.get("client_assertion") ?? "", issuer);
  }
  return client;
}

function shownBy({ request, parameters }: Received, decodesBasic: boolean): Shown {
  const { authorization = "" } = request.headers;
  if (authorization.startsWith("Basic ")) {
    const text = Buffer.from(authorization.slice(6), "base64").toString();
    const parts = [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":") + 1)];
    const [id = "", secret = ""] = decodesBasic ? parts.map(formDecoded) : parts;
    return { id, secret, method: "client_secret_basic" };
  }
  const id = parameters.get("client_id") ?? "";
  if (parameters.has("client_assertion")) {
    const [, claims = ""] = (parameters.get("client_assertion") ?? "").split(".");
    const { sub } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { sub?: string };
    return { id: sub ?? id, method: "private_key_jwt" };
  }
  const secret = parameters.get("client_secret");
  return secret === null ? { id, method: "none" } : { id, secret, method: "client_secret_post" };
}

/** @throws Refused for `%zz`, which a form never has. */
function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new Refused("invalid_client", "Basic is not form-encoded", 401);
  }
}

async function checkAssertion(
  { clientId, jwk }: VendorClient,
  assertion: string,
  issuer: string,
): Promise<void> {
  try {
    const key = await importJWK(jwk as unknown as JWK, "ES256");
    await jwtVerify(assertion, key, { issuer: clientId, subject: clientId, audience: issuer });
  } catch (error) {
    throw new Refused("invalid_client", String(error), 401);
  }
}
