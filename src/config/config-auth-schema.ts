/** The shape of `auth` of a server, and of the tables `oauth` and `key` beside it. */

import * as z from "zod/mini";

import { label, oneOf, quoted, table, text, texts } from "./config-table.ts";
import { lazy } from "../lib/lazy.ts";

const AUTH = ["none", "headers", "oauth", "oauth-shared", "key", "client-credentials"] as const;

/** Ways that are known elsewhere, so that people look for them here. */
const NOT_OFFERED: ReadonlyMap<unknown, string> = new Map([
  ["exchange", "an exchange of tokens, RFC 8693"],
  ["id-jag", "enterprise-managed authorization"],
]);

export const authSchema = lazy(() =>
  z.enum(AUTH, {
    error: ({ input }) => {
      const what = NOT_OFFERED.get(input);
      const allowed = `must be one of ${quoted(AUTH)}`;
      return what === undefined
        ? allowed
        : `"${String(input)}" (${what}) is not offered; it ${allowed}`;
    },
  }),
);

/** One name of a scope, as it stands between spaces (RFC 6749 section 3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

const scopes = lazy(() =>
  texts().check(
    z.refine((names) => names.every((name) => SCOPE.test(name)), {
      error: "must be a list of single scopes, without spaces, quotation marks and backslashes",
    }),
  ),
);

const yesOrNo = lazy(() => z.boolean({ error: "must be true or false" }));

/** Read by a person who connects. */
const help = lazy(() =>
  text().check(z.maxLength(300, { error: "must have at most 300 characters" })),
);

const words = lazy(() => ({ label: z.exactOptional(label()), help: z.exactOptional(help()) }));

export const oauthSchema = lazy(() =>
  table({
    ...words(),
    clientId: z.exactOptional(text()),
    clientSecret: z.exactOptional(text()),
    clientAuth: z.exactOptional(
      oneOf([
        ...(["none", "client_secret_basic", "client_secret_basic_raw"] as const),
        ...(["client_secret_post", "private_key_jwt"] as const),
      ]),
    ),
    privateKey: z.exactOptional(text()),
    issuer: z.exactOptional(text()),
    authorizationEndpoint: z.exactOptional(text()),
    tokenEndpoint: z.exactOptional(text()),
    revocationEndpoint: z.exactOptional(text()),
    registration: z.exactOptional(
      z.array(oneOf(["preregistered", "cimd", "dcr"]), { error: "must be a list" }).check(
        z.minLength(1, { error: "must not be empty" }),
        z.refine((ways) => new Set(ways).size === ways.length, { error: "names a way twice" }),
      ),
    ),
    clientMetadataUrl: z.exactOptional(text()),
    scopes: z.exactOptional(scopes()),
    maxScopes: z.exactOptional(scopes()),
    resource: z.exactOptional(
      z.union([z.string(), z.literal(false)], {
        error: "must be the URI to send, or false to send none",
      }),
    ),
    authorizeParams: z.exactOptional(
      z.record(text(), z.string({ error: "must be a string" }), {
        error: "must be a table of strings",
      }),
    ),
    scopeOnRefresh: z.exactOptional(yesOrNo()),
    rotation: z.exactOptional(oneOf(["auto", "none"])),
    pkce: z.exactOptional(oneOf(["required", "assume"])),
    legacy: z.exactOptional(yesOrNo()),
    catalog: z.exactOptional(oneOf(["user", "shared"])),
  }),
);

export const keySchema = lazy(() =>
  table({
    ...words(),
    header: z.exactOptional(text()),
    prefix: z.exactOptional(z.string({ error: "must be a string" })),
  }),
);

export type OAuthEntry = z.infer<ReturnType<typeof oauthSchema>>;
export type AuthName = (typeof AUTH)[number];
