/**
 * The pages on the way to a sign-in, as the routes call them, with identity providers that a test
 * plays. Everything else is the gateway under test itself, and so are all records.
 */

import { exports } from "cloudflare:workers";

import type { SiteContext } from "../../src/pages/account-context.ts";
import type { IdentityProvider } from "../../src/auth/identity/provider.ts";
import { OwnerProvider } from "../../src/auth/identity/owner.ts";
import type { OwnerSetup } from "../../src/auth/identity/owner-code.ts";
import { register } from "../../src/auth/oauth/endpoints/register.ts";
import { token } from "../../src/auth/oauth/endpoints/token.ts";
import { showAccount } from "../../src/pages/account.ts";
import { showAdmin } from "../../src/pages/admin.ts";
import { operatorOf } from "../../src/pages/operator-visit.ts";
import {
  answerAuthorize,
  answerLogin,
  finishSetup,
  showAuthorize,
  showCallback,
  showLogin,
  showSetup,
  signOut,
  switchAccount,
} from "../../src/pages/sign-in.ts";
import { Browser } from "../support/oauth-browser.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import type { Gateway } from "../support/oauth-requests.ts";
import { type ContextOptions, fromElsewhere, newContext } from "./context.ts";
import { ORIGIN } from "./gateway.ts";
import { records } from "./people.ts";

type Handler = (context: SiteContext, request: Request) => Promise<Response>;

const ROUTES: Readonly<Record<string, Handler>> = {
  "GET /authorize": showAuthorize,
  "POST /authorize": answerAuthorize,
  "POST /authorize/switch": switchAccount,
  "GET /login": showLogin,
  "POST /login": answerLogin,
  "GET /callback": showCallback,
  "GET /account": showAccount,
  "GET /admin": (context, request) => showAdmin(operatorOf(context), request, ""),
  "GET /setup": showSetup,
  "POST /setup": finishSetup,
  "POST /logout": signOut,
  "POST /register": register,
  "POST /token": token,
};

export interface SignInOptions extends ContextOptions {
  /** The owner's code alone by default. */
  readonly providers?: readonly IdentityProvider[];
  readonly setup?: () => OwnerSetup;
}

export const OWNER: IdentityProvider = new OwnerProvider(
  { name: "owner", label: "Owner code", code: OWNER_CODE },
  {
    enrolment: () => ({ codeHash: () => Promise.resolve(undefined) }),
    codeMac: async (hash) => (await records().secrets()).ownerCodeMac(hash),
  },
);

export function signInContext(options: SignInOptions = {}): SiteContext {
  const { providers = [OWNER], setup } = options;
  const context = newContext(options);
  return {
    ...context,
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    ...(setup !== undefined && { setup }),
  };
}

/** Each request comes from an address that no limit has counted before, unless it names another. */
export function signInGateway(options: SignInOptions = {}): Gateway {
  return {
    origin: ORIGIN,
    send: (url, sent) => {
      const headers = { ...fromElsewhere(), ...sent?.headers };
      const request = new Request(url, { ...sent, headers, redirect: "manual" });
      const path = new URL(url).pathname.replace(/^\/callback\/.*/, "/callback");
      const handler = ROUTES[`${request.method} ${path}`];
      if (handler === undefined) return exports.default.fetch(request);
      return handler(signInContext(options), request);
    },
  };
}

/** A browser at an address that no limit has counted before. */
export function browserOf(options: SignInOptions = {}): Browser {
  const { origin, send } = signInGateway(options);
  const address = fromElsewhere();
  return new Browser(origin, (url, sent) =>
    send(url, { ...sent, headers: { ...address, ...sent?.headers } }),
  );
}
