/** The shape of one entry of `IDENTITY`, for each provider. */

import * as z from "zod/mini";

import { lazy } from "../lib/lazy.ts";
import { label, oneOf, table, text, texts } from "./config-table.ts";

export const PROVIDERS = ["owner", "oidc", "google", "entra", "github", "access"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export function isProviderName(value: unknown): value is ProviderName {
  return PROVIDERS.some((name) => name === value);
}

const common = lazy(() => ({
  provider: z.unknown(),
  name: z.optional(
    text().check(
      z.regex(/^[a-z0-9-]{1,24}$/, { error: 'has 1 to 24 characters of a-z, 0-9 and "-"' }),
    ),
  ),
  label: z.optional(label()),
}));

const people = lazy(() => ({
  ...common(),
  allow: z.optional(
    table({
      emails: z.optional(texts()),
      domains: z.optional(texts()),
      groups: z.optional(texts()),
      organizations: z.optional(texts()),
      subjects: z.optional(texts()),
    }),
  ),
  admins: z.optional(texts()),
}));

const client = lazy(() => ({
  ...people(),
  clientId: text(),
  scopes: z.optional(texts()),
  formActions: z.optional(texts()),
}));

export const entrySchemas = {
  owner: lazy(() => table(common())),
  oidc: lazy(() =>
    table({
      ...client(),
      issuer: text(),
      // A public client has no secret.
      clientSecret: z.optional(text()),
      clientAuth: z.optional(oneOf(["client_secret_basic", "client_secret_post"])),
      groupsClaim: z.optional(text()),
    }),
  ),
  google: lazy(() => table({ ...client(), clientSecret: text() })),
  entra: lazy(() =>
    table({
      ...client(),
      clientSecret: text(),
      tenants: texts().check(z.minLength(1, { error: "must not be empty" })),
      groupsClaim: z.optional(text()),
    }),
  ),
  github: lazy(() =>
    table({
      ...client(),
      clientSecret: text(),
      baseUrl: z.optional(text()),
      apiUrl: z.optional(text()),
    }),
  ),
  access: lazy(() => table({ ...people(), team: text(), audience: text() })),
} satisfies Record<ProviderName, () => z.ZodMiniType>;

/** A valid entry, discriminated by its provider. */
export type IdentityEntry = {
  [Name in ProviderName]: Omit<z.infer<ReturnType<(typeof entrySchemas)[Name]>>, "provider"> & {
    readonly provider: Name;
  };
}[ProviderName];
