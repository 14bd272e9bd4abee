/** The keys of sign-in, from the operator's secret or from the root that the registry made. */

import { AuthSecrets } from "../src/auth/secrets.ts";
import type { Config } from "../src/config/config.ts";
import { fromBase64Url } from "../src/lib/base64url.ts";
import { registryIn } from "./ports.ts";

let cached: { readonly config: Config; readonly secrets: AuthSecrets } | undefined;

/** Cached for the whole life of an isolate: the root never changes. */
export async function secretsOf(env: Env, config: Config): Promise<AuthSecrets> {
  if (cached?.config === config) return cached.secrets;
  const root = config.authSecret ?? (await registryIn(env).authRoot());
  const bytes = fromBase64Url(root);
  if (bytes === undefined) throw new Error("The root of the keys of sign-in is broken");
  const secrets = await AuthSecrets.derive(bytes);
  cached = { config, secrets };
  return secrets;
}
