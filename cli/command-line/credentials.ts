/** The credential for a gateway: an API key of the environment, or the login of this machine. */

import { homedir } from "node:os";

import { LoginNeeded } from "../http/failures.ts";
import type { Credentials } from "../http/gateway.ts";
import { StoredLogin } from "../login/stored-login.ts";
import { LoginFile } from "../tokens/login-file.ts";
import { stateFolder } from "../tokens/state-folder.ts";
import { notice } from "./notice.ts";
import type { Environment } from "./read-command.ts";
import { keyOf } from "./read-key.ts";

export function credentialsOf(url: URL, environment: Environment): Credentials {
  const key = keyOf(environment);
  if (key === undefined) return new StoredLogin({ url, file: loginFile(url, environment), notice });
  return {
    current: async () => `Bearer ${key}`,
    renew: async () => {
      const place = `${url.origin}/account`;
      const sentence = `${url.href} refused the API key in EDGEWAY_KEY. Make another one at ${place}`;
      throw new LoginNeeded(sentence, "hopeless");
    },
  };
}

export function loginFile(url: URL, environment: Environment): LoginFile {
  const { platform } = process;
  return new LoginFile(stateFolder({ platform, home: homedir(), environment }), url);
}
