/**
 * Finds the authorization server of a gateway: the challenge names the resource metadata (RFC 9728), and that the
 * server (RFC 8414).
 */

import { parseBearerChallenge } from "../../src/protocol/bearer-challenge.ts";
import type { JsonObject } from "../../src/protocol/json-rpc.ts";
import { isSafe } from "../http/safe-url.ts";
import type { Endpoints } from "../tokens/login-file.ts";
import { LoginError } from "./login-error.ts";
import { getJson } from "./oauth-http.ts";

export interface Discovered {
  readonly endpoints: Endpoints;
  /** What the gateway asks for, if it says so. */
  readonly scope: string | undefined;
}

const RESOURCE = "/.well-known/oauth-protected-resource";
const SERVER = "/.well-known/oauth-authorization-server";

/** @param challenge of the 401, or "". */
export async function discover(
  url: URL,
  challenge: string,
  signal: AbortSignal,
): Promise<Discovered> {
  const { resourceMetadata, scope } = parseBearerChallenge(challenge) ?? {};
  const usual = `${url.origin}${RESOURCE}${url.pathname}`;
  const metadata = await getJson(safe(resourceMetadata ?? usual), signal);
  const { resource, authorization_servers: servers } = metadata;
  // Another party's metadata would have us ask for tokens that are good there (RFC 9728 section 3.3).
  if (typeof resource !== "string" || !isPartOf(url, resource)) {
    throw new LoginError(`${url.href} describes itself as ${String(resource)}`);
  }
  const [issuer] = Array.isArray(servers) ? (servers as unknown[]) : [];
  if (typeof issuer !== "string") throw new LoginError(`${url.href} names no authorization server`);
  const server = await getJson(safe(metadataUrl(issuer)), signal);
  if (server["issuer"] !== issuer) {
    throw new LoginError(`${issuer} describes itself as ${String(server["issuer"])}`);
  }
  return { endpoints: { ...endpointsOf(server, issuer), resource }, scope };
}

/** The path of an issuer follows the well-known one (RFC 8414 section 3.1). */
function metadataUrl(issuer: string): string {
  const { origin, pathname } = new URL(issuer);
  return `${origin}${SERVER}${pathname === "/" ? "" : pathname}`;
}

function endpointsOf(server: JsonObject, issuer: string): Omit<Endpoints, "resource"> {
  const at = (name: string): string | undefined => {
    const value = server[`${name}_endpoint`];
    return typeof value === "string" ? safe(value).href : undefined;
  };
  const authorization = at("authorization");
  const token = at("token");
  if (authorization === undefined || token === undefined) {
    throw new LoginError(`${issuer} has no way to sign in`);
  }
  return {
    issuer,
    authorization,
    token,
    registration: at("registration"),
    revocation: at("revocation"),
    namesIssuer: server["authorization_response_iss_parameter_supported"] === true,
  };
}

function isPartOf(url: URL, resource: string): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname } = new URL(resource);
  return origin === url.origin && `${url.pathname}/`.startsWith(`${pathname.replace(/\/$/, "")}/`);
}

/** @throws LoginError for an address that others could read along. */
function safe(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !isSafe(url)) throw new LoginError(`${address} is no https address`);
  return url;
}
