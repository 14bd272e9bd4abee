/** Single fields that several tables of the configuration have: each is resolved, or its mistake is reported. */

import { fillIn } from "./clients/placeholders.ts";
import { isSafe } from "../auth/identity/provider-fetch.ts";

/** The environment of an entry, and the list that receives its mistakes. */
export interface FieldResolution {
  /** The name of the entry in sentences. */
  readonly key: string;
  readonly env: Readonly<Record<string, unknown>>;
  readonly problems: string[];
}

/** Fills in the secrets. */
export function secretField(
  field: string,
  template: string,
  { key, env, problems }: FieldResolution,
): string {
  return fillIn(template, env, (mistake) => problems.push(`${key}.${field}: ${mistake}.`));
}

/** @returns the URL, if it is one with TLS or of this machine, and has no credentials in it. */
export function secureUrl(value: string): URL | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url !== undefined && isSafe(url) && url.username + url.password === "" ? url : undefined;
}

/** Only a server knows how it spells its issuer, so only impossible values are refused. */
export function issuerUrl(value: string): URL | undefined {
  const url = secureUrl(value);
  return url !== undefined && url.search === "" && url.hash === "" ? url : undefined;
}

/** Headers with a meaning of their own in HTTP or in MCP, which the gateway sets itself. */
const OWN_HEADERS =
  /^(?:accept|connection|content-.*|cookie|host|last-event-id|mcp-.*|origin|transfer-encoding)$/i;

export function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.test(name);
}

/** @param name of a header. */
export function hasHeader(headers: Readonly<Record<string, string>>, name: string): boolean {
  return Object.keys(headers).some((header) => header.toLowerCase() === name.toLowerCase());
}

export function isHeader(name: string, value: string): boolean {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
}
