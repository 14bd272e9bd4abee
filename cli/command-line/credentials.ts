/** The credential for a gateway: an API key of the environment, or none. */

import { LoginNeeded } from "../http/failures.ts";
import type { Credentials } from "../http/gateway.ts";
import type { Environment } from "./read-command.ts";

export function credentialsOf(url: URL, { EDGEWAY_KEY }: Environment): Credentials {
  const key = EDGEWAY_KEY?.trim() ?? "";
  const place = `${url.origin}/account`;
  return {
    current: async () => (key === "" ? undefined : `Bearer ${key}`),
    renew: async () => {
      throw new LoginNeeded(
        key === ""
          ? `${url.href} asks for a login. Make an API key at ${place}, and set EDGEWAY_KEY to it`
          : `${url.href} refused the API key in EDGEWAY_KEY. Make another one at ${place}`,
      );
    },
  };
}
