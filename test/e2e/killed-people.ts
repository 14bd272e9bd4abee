/** Three people of a gateway that is killed, at browsers that outlive it, and what they do there. */

import type { KillableGateway } from "../support/killable-gateway.ts";
import { Browser, type Page } from "../support/oauth-browser.ts";
import { obtainCode, signIn } from "../support/oauth-client.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import type { RegisteredClient } from "../support/oauth-requests.ts";
import { answered } from "./killed-answers.ts";
import { KilledGrant } from "./killed-grant.ts";

/** The first one is the owner, who is the administrator; the others are the provider's. */
export const PEOPLE = ["owner", "alice", "bob"] as const;

const ACCOUNT = "/account";
const ADMIN = "/admin";

export class KilledPerson {
  readonly name: string;
  readonly browser: Browser;

  private constructor(name: string, browser: Browser) {
    this.name = name;
    this.browser = browser;
  }

  /** @param issuer of the provider. */
  static async signIn(
    name: string,
    { url }: KillableGateway,
    issuer: string,
  ): Promise<KilledPerson> {
    const browser = new Browser(url, overHttp, [issuer]);
    if (name === "owner") {
      await signIn(browser, OWNER_CODE);
    } else {
      const provider = await browser.submit(await browser.visit("/login"), {
        button: /^Continue with/,
      });
      await browser.submit(provider, { button: "Sign in", fields: { login: name } });
    }
    return new KilledPerson(name, browser);
  }

  /** Signs in at the provider once more, as whoever makes a key must have done recently. */
  async signInAnew(): Promise<void> {
    const page = await this.browser.visit("/login?fresh=1");
    const provider = await this.browser.submit(page, { button: /^Continue with/ });
    await this.browser.submit(provider, { button: "Sign in", fields: { login: this.name } });
  }

  /** Whether the gateway still knows the browser. */
  async isSignedIn(): Promise<boolean> {
    const { url, status } = await this.browser.visit(ACCOUNT);
    return url.pathname === ACCOUNT && status === 200;
  }

  /** Approves an application. @returns the grant, whose code has not been redeemed. */
  async approve(client: RegisteredClient): Promise<KilledGrant> {
    const gateway = { origin: this.browser.origin, send: overHttp };
    const options = { client, browser: this.browser, code: OWNER_CODE };
    const { exchange, code } = await obtainCode(gateway, options);
    const name = `a grant of ${this.name} to ${String(client["client_name"])}`;
    return new KilledGrant(gateway, name, { ...exchange, client_id: client.client_id, code });
  }

  /** Ends a grant on the account page, if it is there. */
  async end(grant: KilledGrant): Promise<void> {
    grant.revocation = "sent";
    await this.#press(ACCOUNT, "/account/connections/revoke", grant.id);
    grant.revocation = "answered";
  }

  /** Deletes an application on the operator's page, if it is there, and all its grants with it. */
  async deleteClient(client: RegisteredClient, grants: readonly KilledGrant[]): Promise<void> {
    for (const grant of grants) grant.revocation = "sent";
    await this.#press(ADMIN, "/admin/clients/delete", client.client_id);
    for (const grant of grants) grant.revocation = "answered";
  }

  /** Makes an API key. */
  createKey(): Promise<readonly string[]> {
    return this.#create(ACCOUNT, "/account/keys", /edgeway_sk_\w{16}_[\w-]{43}/g);
  }

  /** Ends an API key on the account page. */
  endKey(key: string): Promise<void> {
    const [, id = ""] = /^edgeway_sk_(\w{16})_/.exec(key) ?? [];
    return this.#press(ACCOUNT, "/account/keys/revoke", id);
  }

  /** Makes a service client. @returns its id and its secret. */
  createService(): Promise<readonly string[]> {
    return this.#create(ADMIN, "/admin/services", /svc_\w+|(?<![\w-])[\w-]{43}(?![\w-])/g);
  }

  /** @returns the secret that the page shows once. */
  async #create(path: string, action: string, secret: RegExp): Promise<readonly string[]> {
    const resource = [`${this.browser.origin}/mcp`];
    const fields = { label: "Nightly job", resource };
    const { text } = await this.browser.submit(await this.browser.visit(path), { action, fields });
    return Array.from(text.matchAll(secret), ([found]) => found);
  }

  /** Sends the form of a page that is about something, if there is one. */
  async #press(path: string, action: string, about: string): Promise<void> {
    const page = await answered(() => this.browser.visit(path));
    const isMeant = ({ action: to, controls }: Page["forms"][number]): boolean =>
      to === action && controls.some(({ value }) => value === about);
    const forms = page.forms.filter(isMeant);
    if (forms.length === 0) return;
    const { hops } = await answered(() => this.browser.submit({ ...page, forms }));
    if (hops[0]?.status !== 303) throw new Error(`${action} was answered ${hops[0]?.status}`);
  }
}
