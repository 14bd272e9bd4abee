/** The pages of accounts at servers as the routes call them, over vaults in memory; all else is the gateway. */

import { exports } from "cloudflare:workers";

import type { Limits } from "../../src/policy/limits.ts";
import { operatorOf } from "../../src/pages/operator-visit.ts";
import { finishConnect } from "../../src/pages/account-callback.ts";
import type { AccountHandler } from "../../src/pages/account-visit.ts";
import { showAccount } from "../../src/pages/account.ts";
import { sealAccounts, showAdmin } from "../../src/pages/admin.ts";
import {
  beginConnect,
  disconnectAccount,
  showConnectAccount,
} from "../../src/pages/connect-account.ts";
import { Browser, type Sent } from "../support/oauth-browser.ts";
import { newContext } from "./context.ts";
import { type FakeVaults, SERVERS } from "./fake-vaults.ts";
import { ORIGIN } from "./gateway.ts";
import { SESSION_COOKIE, Visitor, type VisitorOptions } from "./visitor.ts";

const ROUTES: readonly (readonly [RegExp, AccountHandler])[] = [
  [/^GET \/connect\/([^/]+)$/, showConnectAccount],
  [/^POST \/connect\/([^/]+)$/, beginConnect],
  [/^POST \/connect\/([^/]+)\/disconnect$/, disconnectAccount],
  [/^GET \/oauth\/upstream\/([^/]+)\/callback$/, finishConnect],
];

export class AccountGateway {
  readonly origin = ORIGIN;
  readonly vaults: FakeVaults;
  readonly #limits: Partial<Limits>;

  constructor(vaults: FakeVaults, limits: Partial<Limits> = { connectsPerMinute: 10_000 }) {
    this.vaults = vaults;
    this.#limits = limits;
  }

  readonly send = (url: string, sent: Sent = {}): Promise<Response> => {
    const request = new Request(url, { ...sent, redirect: "manual" });
    const auth = newContext({ limits: this.#limits });
    const accounts = { servers: SERVERS, vaults: this.vaults };
    const route = `${request.method} ${new URL(url).pathname}`;
    if (route === "GET /account") return showAccount({ ...auth, accounts }, request);
    if (route === "GET /admin") return showAdmin(operatorOf({ ...auth, accounts }), request, "");
    if (route === "POST /admin/accounts/seal") {
      return sealAccounts(operatorOf({ ...auth, accounts }), request, "");
    }
    for (const [pattern, handler] of ROUTES) {
      const [, slug] = pattern.exec(route) ?? [];
      if (slug !== undefined) return handler({ origin: ORIGIN, accounts, auth }, request, slug);
    }
    return exports.default.fetch(request);
  };

  /** A person whom no other test knows, signed in at a browser of this gateway. */
  async arrive(options: VisitorOptions = {}): Promise<Guest> {
    return this.#guest(await Visitor.arrive(options));
  }

  /** Another browser of a person. */
  async again({ visitor }: Guest): Promise<Guest> {
    return this.#guest(await Visitor.as(visitor.person));
  }

  #guest(visitor: Visitor): Guest {
    const browser = new Browser(ORIGIN, this.send);
    const cookie = `${SESSION_COOKIE}=${visitor.secret}; Path=/; Secure; HttpOnly`;
    browser.jar.take(new URL(ORIGIN), [cookie]);
    return {
      visitor,
      browser,
      id: visitor.person.id,
      vault: this.vaults.ofPerson(visitor.person.id),
    };
  }
}

export interface Guest {
  readonly visitor: Visitor;
  readonly browser: Browser;
  readonly id: string;
  readonly vault: ReturnType<FakeVaults["ofPerson"]>;
}
