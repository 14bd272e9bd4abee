/**
 * An operator changes who may do what, and starts the gateway again: what somebody had by the
 * configuration of before is judged by the one of now.
 */

import { afterAll, beforeAll, describe, test } from "vitest";

import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { Browser } from "../support/oauth-browser.ts";
import { obtainToken, signIn } from "../support/oauth-client.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { type Gateway, requestToken, type Tokens, tokensIn } from "../support/oauth-requests.ts";
import { startOidcProvider, type TestOidcProvider } from "../support/oidc-provider.ts";
import { statusWith } from "./killed-answers.ts";
import { KilledPerson } from "./killed-people.ts";

const NEW_CODE = "m3vq-70kd-zt5c-9hxw-e2pj-4ysn-rb81-6gaf";

let oidc: TestOidcProvider;
let killable: KillableGateway;
let gateway: Gateway;

beforeAll(async () => {
  oidc = await startOidcProvider(false);
  killable = await startKillableGateway({ auth: "oauth", vars: vars({}) });
  gateway = { origin: killable.url, send: overHttp };
  oidc.allowRedirect(`${killable.url}/callback/company`);
});

afterAll(async () => {
  await killable?.remove();
  await oidc?.stop();
});

interface Changed {
  readonly code?: string;
  readonly emails?: readonly string[];
  readonly admins?: readonly string[];
}

const ALICE = "alice@example.com";
const BOB = "bob@other.example";

function vars({ code = OWNER_CODE, emails = [ALICE, BOB], admins = [ALICE] }: Changed) {
  const { issuer, clientId, clientSecret } = oidc;
  const people = { allow: { emails }, admins };
  const company = { provider: "oidc", name: "company", issuer, clientId, clientSecret, ...people };
  return { OWNER_CODE: code, IDENTITY: JSON.stringify([{ provider: "owner" }, company]) };
}

async function restartWith(changed: Changed): Promise<void> {
  await killable.kill();
  await killable.start(undefined, vars(changed));
}

/** All access that a user can have. */
class Belongings {
  readonly #person: KilledPerson;
  readonly #key: string;
  readonly #service: readonly string[];
  readonly #serviceToken: string;
  readonly #tokens: Tokens;
  readonly #client: string;

  private constructor(
    person: KilledPerson,
    [key = ""]: readonly string[],
    service: readonly string[],
    [serviceToken, client, tokens]: readonly [string, string, Tokens],
  ) {
    this.#person = person;
    this.#key = key;
    this.#service = service;
    this.#serviceToken = serviceToken;
    this.#client = client;
    this.#tokens = tokens;
  }

  static async of(name: "owner" | "alice" | "bob"): Promise<Belongings> {
    const person = await KilledPerson.signIn(name, killable, oidc.issuer);
    const { browser } = person;
    if (name !== "owner") await person.signInAnew();
    const { client, tokens } = await obtainToken(gateway, { browser, code: OWNER_CODE });
    const isAdmin = name !== "bob";
    const service = isAdmin ? await person.createService() : [];
    const serviceToken = isAdmin
      ? (await tokensIn(await requestToken(gateway, credentialsOf(service)))).access_token
      : "";
    const more = [serviceToken, client.client_id, tokens] as const;
    return new Belongings(person, await person.createKey(), service, more);
  }

  /** What each of them is good for at this moment. */
  async found(): Promise<Readonly<Record<string, unknown>>> {
    const admin = await this.#person.browser.visit("/admin");
    return {
      signedIn: await this.#person.isSignedIn(),
      admin: admin.url.pathname === "/admin" ? admin.status : 401,
      key: await statusWith(gateway, this.#key),
      token: await statusWith(gateway, this.#tokens.access_token),
      serviceToken: await statusWith(gateway, this.#serviceToken),
      service: (await requestToken(gateway, credentialsOf(this.#service))).status,
    };
  }

  async statusOfRefresh(): Promise<number> {
    const { refresh_token } = this.#tokens;
    const form = { grant_type: "refresh_token", client_id: this.#client, refresh_token };
    return (await requestToken(gateway, form)).status;
  }

  /** Whether a page that was open before makes a key with what is in it. */
  async makesKey(): Promise<boolean> {
    const made = await this.#person.createKey().catch(() => []);
    return made.length > 0;
  }
}

/** As it is asked for before something lasting is made. */
function credentialsOf([client_id = "svc_none", client_secret = "x"]: readonly string[]) {
  return { grant_type: "client_credentials", client_id, client_secret };
}

const ALL = {
  ...{ signedIn: true, admin: 200, key: 200, token: 200, serviceToken: 200, service: 200 },
};
const NOTHING = {
  ...{ signedIn: false, admin: 401, key: 401, token: 401, serviceToken: 401, service: 401 },
};

describe("a new OWNER_CODE", () => {
  test("ends the access that began under the earlier one, and no other", async ({ expect }) => {
    const [owner, alice] = [await Belongings.of("owner"), await Belongings.of("alice")];
    expect([await owner.found(), await alice.found()]).toEqual([ALL, ALL]);
    await restartWith({ code: NEW_CODE });
    expect([await owner.found(), await alice.found()]).toEqual([NOTHING, ALL]);
    expect([await owner.makesKey(), await owner.statusOfRefresh()]).toEqual([false, 400]);
    const browser = new Browser(killable.url, overHttp);
    await signIn(browser, NEW_CODE);
    expect((await browser.visit("/admin")).status).toBe(200);
    // The owner is back, and the same person: what is of the earlier code stays ended.
    expect(await owner.found()).toEqual(NOTHING);
  });
});

describe("a user who is removed from", () => {
  test("admins is no administrator, and stays who they are", async ({ expect }) => {
    await restartWith({});
    const alice = await Belongings.of("alice");
    expect(await alice.found()).toEqual(ALL);
    await restartWith({ admins: [] });
    expect(await alice.found()).toEqual({
      ...ALL,
      ...{ admin: 403, serviceToken: 401, service: 401 },
    });
  });

  test("allow loses all access, while the others keep theirs", async ({ expect }) => {
    await restartWith({});
    const [alice, bob] = [await Belongings.of("alice"), await Belongings.of("bob")];
    await restartWith({ emails: [BOB] });
    expect(await alice.found()).toEqual(NOTHING);
    expect([await alice.makesKey(), await alice.statusOfRefresh()]).toEqual([false, 400]);
    const ofBob = { ...ALL, admin: 403, serviceToken: 401, service: 401 };
    expect(await bob.found()).toEqual(ofBob);
  });
});
