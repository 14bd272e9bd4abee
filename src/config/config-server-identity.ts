/** `identity` of one entry of `MCP_SERVERS`: what the server is told about its callers. */

import * as z from "zod/mini";

import { hasHeader, isOwnHeader } from "./config-fields.ts";
import { quoted, table } from "./config-table.ts";
import { IDENTITY_CLAIMS, type IdentitySettings } from "../accounts/settings.ts";
import { lazy } from "../lib/lazy.ts";

const DEFAULT_HEADER = "Edgeway-Assertion";
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;

export const identitySchema = lazy(() =>
  z.union(
    [
      z.boolean(),
      table({
        audience: z.optional(z.string().check(z.minLength(1))),
        claims: z.optional(z.array(z.enum(IDENTITY_CLAIMS))),
        header: z.optional(z.string()),
      }),
    ],
    {
      error: `must be true, or a table of "audience" (a string), "claims" (of ${quoted(IDENTITY_CLAIMS)}) and "header" (a string)`,
    },
  ),
);

/** What else is known of the entry. */
interface IdentityEntry {
  readonly identity?: z.infer<ReturnType<typeof identitySchema>> | undefined;
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** @param key of the entry. @param endpoint the server's address, the default audience. */
export function resolveIdentity(
  key: string,
  { identity, url, headers = {} }: IdentityEntry,
  endpoint: URL,
  problems: string[],
): IdentitySettings | undefined {
  if (identity === undefined || identity === false) return undefined;
  const { audience, claims = [], header = DEFAULT_HEADER } = identity === true ? {} : identity;
  if (audience === undefined && url === undefined) {
    problems.push(
      `${key}.identity needs an "audience": a service binding without a "url" has no address to stand for it.`,
    );
  }
  if (!HEADER_NAME.test(header) || isOwnHeader(header)) {
    problems.push(`${key}.identity.header: "${header}" cannot carry an assertion.`);
  } else if (hasHeader(headers, header)) {
    problems.push(`${key}.identity.header: "${header}" is also one of the server's "headers".`);
  }
  return { audience: audience ?? endpoint.href, claims, header };
}
