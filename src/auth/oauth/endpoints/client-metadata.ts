/**
 * The metadata that a client sends when it registers (RFC 7591 section 2): checked, and reduced to
 * what this server uses. Unsupported values are left out where the client can do without them,
 * because clients send one registration request to every authorization server.
 */

import { isObject, type JsonObject } from "../../../protocol/json-rpc.ts";
import { ADMIN, USE } from "../../scopes.ts";
import { judgeRedirectUris } from "../../clients/redirect-uris.ts";

export type MetadataReading =
  | {
      readonly kind: "read";
      /** The metadata for the library. */
      readonly metadata: JsonObject;
      readonly redirectUris: readonly string[];
      /** The scope that the client may request, for the response. */
      readonly scope: string;
    }
  | { readonly kind: "refused"; readonly error: MetadataError; readonly description: string };

/** RFC 7591 section 3.2.2. */
type MetadataError = "invalid_redirect_uri" | "invalid_client_metadata";

const MAX_REDIRECT_URIS = 10;
const MAX_CHARS = 256;
const MAX_URI_CHARS = 2048;
const GRANT_TYPES = ["authorization_code", "refresh_token"];
const LINKS = ["client_uri", "logo_uri", "tos_uri", "policy_uri"];

export function readClientMetadata(value: unknown): MetadataReading {
  if (!isObject(value)) return refused("The metadata must be a JSON object");
  const { redirect_uris: uris, client_name: name, contacts = [] } = value;
  if (!isListOfStrings(uris) || uris.length > MAX_REDIRECT_URIS) {
    const description = `redirect_uris must be a list of 1 to ${MAX_REDIRECT_URIS} addresses`;
    return refused(description, "invalid_redirect_uri");
  }
  if (judgeRedirectUris(uris) !== undefined) {
    const description =
      "redirect_uris must have an https address or an http address of a loopback host, and nothing else that a browser would run or that is unclear to read";
    return refused(description, "invalid_redirect_uri");
  }
  if (!isShort(name ?? "") || !isListOfStrings(contacts) || !contacts.every(isShort)) {
    return refused(`client_name and contacts are texts of up to ${MAX_CHARS} characters`);
  }
  const methods = ["token_endpoint_auth_method", "token_endpoint_auth_methods_supported"];
  return {
    kind: "read",
    redirectUris: uris,
    scope: readScope(value["scope"]),
    metadata: {
      redirect_uris: uris,
      ...(typeof name === "string" && name.trim() !== "" && { client_name: name }),
      ...Object.fromEntries(
        LINKS.map((link) => [link, value[link]]).filter(([, to]) => isLink(to)),
      ),
      ...Object.fromEntries(
        methods.map((key) => [key, value[key]]).filter(([, method]) => method !== null),
      ),
      grant_types: usable(value["grant_types"], GRANT_TYPES),
      response_types: usable(value["response_types"], ["code"]),
    },
  };
}

/**
 * Some clients request the scopes of this response, and without any those of OpenID Connect. The
 * response must not reveal which upstreams exist, so anything that could be a scope of one is
 * repeated.
 */
function readScope(scope: unknown): string {
  const asked = typeof scope === "string" && scope.length <= MAX_CHARS ? scope.split(" ") : [];
  const known = asked.filter(
    (one) => one === USE || one === ADMIN || /^mcp:[a-z0-9-]{1,24}$/.test(one),
  );
  return known.length > 0 ? [...new Set(known)].join(" ") : USE;
}

function isListOfStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/**
 * A list that includes the code flow comes from a client of many servers, so the rest of the list
 * is left out. A list without it comes from a client of another protocol, and the library refuses
 * it.
 *
 * @param served the values that this server supports, the code flow first.
 */
function usable(listed: unknown, served: readonly string[]): unknown {
  if (listed === undefined || listed === null) return served;
  if (!Array.isArray(listed) || !listed.includes(served[0])) return listed;
  return served.filter((one) => listed.includes(one));
}

function isShort(value: unknown): boolean {
  return typeof value === "string" && value.length <= MAX_CHARS;
}

/** Values that are shown as links must be links; others are left out. */
function isLink(value: unknown): boolean {
  if (typeof value !== "string" || value.length > MAX_URI_CHARS || !URL.canParse(value))
    return false;
  return /^https?:$/.test(new URL(value).protocol);
}

function refused(
  description: string,
  error: MetadataError = "invalid_client_metadata",
): MetadataReading {
  return { kind: "refused", error, description };
}
