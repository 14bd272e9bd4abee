/**
 * The whole way of accounts, with everything that goes wrong on it, and afterwards a search: no secret that a vendor
 * has issued, or that the gateway made for it, is in a line that the gateway printed, in a file that it stored, or
 * in anything that it sent to another place than the one for which the secret is.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";

import { Browser } from "../support/oauth-browser.ts";
import { signIn } from "../support/oauth-client.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import { type Server, startGateway } from "../support/servers.ts";
import type { Hit } from "../support/vendor/script.ts";
import { REGISTERED } from "../support/vendor/shapes.ts";
import { parametersOf, Vendor } from "../support/vendor/vendor.ts";
import { startVendors, type Vendors } from "../support/vendor/vendors.ts";
import { connectAccount, linkIn } from "./account-links.ts";
import { outcomeOf, textOf } from "./outcome.ts";
import { Answers, databasesIn } from "./secret-search.ts";
import { Application } from "./sign-in-suite.ts";

/** What a vendor puts into its errors and headers, where nobody should repeat it. */
const CANARY = "canary-4f1c9d27b6e8";
const KEY = "key-of-alice-8d20c1f7";
const WRONG_KEY = "key-of-nobody-51e6a93b";

let vendors: Vendors;
let storage: string;
beforeAll(async () => {
  vendors = await startVendors();
  storage = await mkdtemp(join(tmpdir(), "edgeway-secrets-"));
});
afterAll(async () => {
  await vendors?.stop();
  await rm(storage, { recursive: true, force: true });
});

/** A server of each kind that has secrets. */
async function startVendorsOfAllKinds() {
  const notes = await Vendor.take(vendors.origin, { registersAs: "client_secret_basic" });
  const robot = await Vendor.take(vendors.origin, { clients: [REGISTERED], checksAudience: false });
  const keyed = await Vendor.take(vendors.origin, { keys: { [`Bearer ${KEY}`]: "alice" } });
  const { clientId, clientSecret } = REGISTERED;
  const own = { clientId, clientSecret, issuer: robot.issuer };
  const servers = {
    notes: { url: notes.url, auth: "oauth", oauth: { label: "Notes" } },
    robot: { url: robot.url, auth: "client-credentials", oauth: own },
    keyed: { url: keyed.url, auth: "key" },
  };
  return { notes, robot, keyed, servers };
}

/** @returns each secret by what it is. */
async function secretsOf(...all: readonly Vendor[]): Promise<ReadonlyMap<string, string>> {
  const secrets = new Map([
    [CANARY, "what a vendor says in an error"],
    [KEY, "a key"],
    [WRONG_KEY, "a key that was refused"],
    [REGISTERED.clientSecret ?? "", "a configured client secret"],
  ]);
  for (const vendor of all) {
    const { tokens, clients, hits } = await vendor.state();
    for (const { kind, value } of tokens) secrets.set(value, `a token: ${kind}`);
    for (const { clientSecret } of clients) {
      if (clientSecret !== undefined) secrets.set(clientSecret, "a client secret");
    }
    for (const hit of hits.filter(({ place }) => place === "exchange")) {
      const { code = "", code_verifier: verifier = "" } = parametersOf(hit);
      secrets.set(code, "a code").set(verifier, "a verifier");
    }
  }
  return secrets;
}

/** Where a secret may be sent: to the vendor itself, in the places that are for it. */
function isItsPlace({ place, headers, parameters }: Hit, secret: string): boolean {
  const isParameter = parameters.some(([, value]) => value === secret);
  const isHeader = headers["authorization"] === `Bearer ${secret}`;
  switch (place) {
    case "server":
      return isHeader;
    case "authorize":
      return false;
    default:
      return isParameter && !isHeader;
  }
}

test("U34 no secret is in any line, page, error, answer or file, whatever happens on the way", async ({
  expect,
}) => {
  const { notes, robot, keyed, servers } = await startVendorsOfAllKinds();
  const gateway: Server = await startGateway({ auth: "oauth", servers, persistTo: storage });
  const answers = new Answers();
  const kind = SDK_V2.find(({ name }) => name === "v2-legacy");
  if (kind === undefined) throw new Error("There is no such SDK");
  const application = new Application(gateway.url, kind, undefined, answers.fetch);
  const connection = await application.connect();
  const browser = new Browser(gateway.url, answers.send);
  await signIn(browser, OWNER_CODE);
  const call = async (tool: string): Promise<string> => {
    const outcome = await outcomeOf(connection.callTool(tool));
    return "content" in outcome ? textOf(outcome) : String(outcome["message"]);
  };
  const error = { status: 400, body: { error: "invalid_request", error_description: CANARY } };
  const challenge = { status: 401, headers: { "WWW-Authenticate": `Bearer error="${CANARY}"` } };

  // An attempt that the vendor ends with an error, and one that succeeds.
  await notes.change({ reactions: { exchange: [error] } });
  const link = linkIn(await call("notes__whoami"));
  expect((await connectAccount(browser, link)).status).toBeGreaterThan(399);
  await notes.change({ reactions: { exchange: [{ patch: { id_token: CANARY } }] } });
  expect((await connectAccount(browser, link)).text).toContain("connected");
  expect(await call("notes__whoami")).toBe("ran whoami as alice");
  expect(await call("robot__whoami")).toBe("ran whoami as service");

  // A key that is refused, and one that is taken.
  const keyPage = await browser.visit("/connect/keyed");
  await browser.submit(keyPage, { fields: { key: WRONG_KEY } });
  await browser.submit(keyPage, { fields: { key: KEY } });
  expect(await call("keyed__whoami")).toBe("ran whoami as alice");

  // A refusal that quotes, a refresh that fails, one that succeeds, and a server that fails.
  await notes.expire();
  await notes.change({ reactions: { server: [challenge], refresh: [{ ...error, status: 503 }] } });
  expect(await call("notes__whoami")).toContain("The login of Notes is not answering");
  const again = `${gateway.url}/connect/notes`;
  expect((await connectAccount(browser, again)).text).toContain("connected");
  await notes.expire();
  expect(await call("notes__whoami")).toBe("ran whoami as alice");
  await notes.change({ reactions: { server: [{ status: 500, body: CANARY }] } });
  await call("notes__whoami");

  for (const path of ["/account", "/admin", "/connect/notes", "/connect/keyed"]) {
    expect((await browser.visit(path)).status).toBe(200);
  }
  const account = await browser.visit("/account");
  await browser.submit(account, { action: "/connect/notes/disconnect" });
  await notes.receives("revoke");
  await application.close();
  const secrets = await secretsOf(notes, robot, keyed);
  const hits = (await Promise.all([notes, robot, keyed].map((vendor) => vendor.hits()))).flat();
  await gateway.stop();

  const printed = gateway.program.output();
  const files = await databasesIn(storage);
  expect(printed).toContain("account_connected");
  expect(answers.texts.join("\n")).toContain("ran whoami as alice");
  // The search finds what is stored in clear.
  expect(files.some(([, bytes]) => bytes.includes(notes.issuer))).toBe(true);
  const found: string[] = [];
  for (const [secret, what] of secrets) {
    expect([what, secret.length > 15]).toEqual([what, true]);
    if (printed.includes(secret)) found.push(`${what} was printed`);
    if (answers.texts.some((text) => text.includes(secret))) found.push(`${what} was answered`);
    for (const [name, bytes] of files) {
      if (bytes.includes(secret)) found.push(`${what} is in ${name}`);
    }
    for (const hit of hits) {
      const isSent = JSON.stringify(hit).includes(secret);
      if (isSent && !isItsPlace(hit, secret)) found.push(`${what} was sent to ${hit.place}`);
    }
  }
  expect(found).toEqual([]);
  expect([...new Set(secrets.values())].toSorted()).toEqual([
    ...["a client secret", "a code", "a configured client secret", "a key"],
    ...["a key that was refused", "a token: access", "a token: refresh", "a verifier"],
    "what a vendor says in an error",
  ]);
  // The gateway's own tokens are nobody's business upstream.
  const { access_token: own = "" } = application.keychain.kept ?? {};
  expect(own.length).toBeGreaterThan(15);
  expect(JSON.stringify(hits)).not.toContain(own);
});
