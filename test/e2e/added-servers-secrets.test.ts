/**
 * Servers that are added, looked at, served, changed, moved and exported with secrets in their headers, and
 * afterwards a search: no secret is in a line that the gateway printed, in a page or an answer, in a file that it
 * stored, or in a request to any other server than the one for which it was entered.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";

import { Browser, type Page } from "../support/oauth-browser.ts";
import { signIn } from "../support/oauth-client.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import { startGateway } from "../support/servers.ts";
import { Vendor } from "../support/vendor/vendor.ts";
import { startVendors, type Vendors } from "../support/vendor/vendors.ts";
import { outcomeOf, textOf } from "./outcome.ts";
import { Answers, databasesIn } from "./secret-search.ts";
import { Application } from "./sign-in-suite.ts";

const LIST = "/admin/servers";
const WRONG = "tea-key-that-is-refused-77a1";
const FIRST = "tea-key-of-the-first-day-41c9";
const SECOND = "tea-key-of-the-next-day-95e2";
const MOVED = "coffee-key-for-another-place-0d3f";
/** Short, and in a header whose name says nothing: only the form knows that it is one. */
const PLAIN = "plain-looking-secret-6b";
const CANARY = "canary-of-the-server-2f8e61";
const SECRETS = [WRONG, FIRST, SECOND, MOVED, PLAIN, CANARY];

let vendors: Vendors;
let storage: string;
beforeAll(async () => {
  vendors = await startVendors();
  storage = await mkdtemp(join(tmpdir(), "edgeway-added-secrets-"));
});
afterAll(async () => {
  await vendors?.stop();
  await rm(storage, { recursive: true, force: true });
});

test("no secret of an added server is in any line, page, answer or file, or at another server", async ({
  expect,
}) => {
  const keys = { [`Bearer ${FIRST}`]: "alice", [`Bearer ${SECOND}`]: "alice" } as const;
  const tea = await Vendor.take(vendors.origin, { keys });
  const coffee = await Vendor.take(vendors.origin, { keys: { [`Bearer ${MOVED}`]: "alice" } });
  const gateway = await startGateway({
    auth: "oauth",
    servers: { demo: { service: "DEMO" } },
    persistTo: storage,
  });
  const answers = new Answers();
  const browser = new Browser(gateway.url, answers.send);
  await signIn(browser, OWNER_CODE);
  const kind = SDK_V2.find(({ name }) => name === "v2-legacy");
  if (kind === undefined) throw new Error("There is no such SDK");
  const application = new Application(gateway.url, kind, undefined, answers.fetch);
  const connection = await application.connect();
  const call = async (): Promise<string> => {
    const outcome = await outcomeOf(connection.callTool("tea__whoami"));
    return "content" in outcome ? textOf(outcome) : String(outcome["message"]);
  };
  const edit = async (fields: Readonly<Record<string, string>>): Promise<Page> => {
    const form = await browser.visit(`${LIST}/tea/edit`);
    const shown = await browser.submit(form, { button: "See what changes", fields });
    if (shown.status !== 200) return shown;
    return browser.submit(shown, { button: "Keep the change" });
  };
  const pages = async (inCatalog: number): Promise<void> => {
    expect((await browser.visit("/catalog/tea")).status).toBe(inCatalog);
    for (const path of [
      ...[LIST, `${LIST}/tea`, `${LIST}/tea/edit`, "/admin/export", "/admin"],
      ...["/account", "/activity", "/catalog", "/admin/logins", "/"],
    ]) {
      expect([path, (await browser.visit(path)).status]).toEqual([path, 200]);
    }
  };

  // Pasted in the wrong way, and then with a key that the server refuses, which it quotes.
  const list = await browser.visit(LIST);
  const unread = await browser.submit(list, {
    button: "Read it",
    fields: { text: `Bearer ${WRONG}` },
  });
  expect(unread.status).toBe(400);
  await tea.change({ challenges: [`Bearer error="${CANARY}"`] });
  const map = { tea: { url: tea.url, headers: { Authorization: `Bearer ${WRONG}` } } };
  const text = JSON.stringify({ mcpServers: map });
  const read = await browser.submit(list, { button: "Read it", fields: { text } });
  // A mistake, so that the form is shown again.
  const again = await browser.submit(read, {
    button: "Keep as a draft",
    fields: { "slug-0": "!" },
  });
  expect(again.status).toBe(400);
  const draft = await browser.submit(again, {
    button: "Keep as a draft",
    fields: { "slug-0": "tea" },
  });
  expect(draft.text).toContain("Wants a login");
  await pages(404);

  // Replaced by one that works, with a header more; served, and called.
  await edit({
    "secret-AUTHORIZATION": FIRST,
    ...{ "new-name": "X-Plan", "new-value": PLAIN, "new-secret": "on" },
  });
  await browser.submit(await browser.visit(`${LIST}/tea`), { button: "Serve it tea" });
  expect(await call()).toBe("ran whoami as alice");
  await pages(200);
  await edit({ "secret-AUTHORIZATION": SECOND });
  expect(await call()).toBe("ran whoami as alice");

  // The server fails, and quotes what it was sent.
  await tea.change({ reactions: { server: [{ status: 500, body: `${CANARY} ${SECOND}` }] } });
  await call();
  await browser.submit(await browser.visit(`${LIST}/tea`), { button: "Check now tea" });

  // Sealed anew, and moved: refused while a secret would go along.
  const admin = await browser.visit("/admin");
  await browser.submit(admin, { button: "Seal all accounts anew" });
  expect((await edit({ url: coffee.url })).text).toContain('"AUTHORIZATION" was given for');
  const moved = await edit({
    ...{ url: coffee.url, "secret-AUTHORIZATION": MOVED, "remove-X_PLAN": "on" },
  });
  expect(moved.text).toContain("serves nobody until you have it served");
  await browser.submit(moved, { button: "Serve it tea" });
  expect(await call()).toBe("ran whoami as alice");
  await pages(200);
  await browser.submit(await browser.visit(`${LIST}/tea`), { button: "Pause tea" });
  await application.close();
  const hits = { tea: await tea.hits(), coffee: await coffee.hits() };
  await gateway.stop();

  const printed = gateway.program.output();
  const files = await databasesIn(storage);
  // The search finds what is stored, printed and shown in clear.
  expect(files.some(([, bytes]) => bytes.includes(coffee.url))).toBe(true);
  expect(printed).toContain("server_edited");
  expect(answers.texts.join("\n")).toContain("ran whoami as alice");
  const found: string[] = [];
  for (const secret of SECRETS) {
    if (printed.includes(secret)) found.push(`${secret} was printed`);
    if (answers.texts.some((each) => each.includes(secret))) found.push(`${secret} was answered`);
    for (const [name, bytes] of files) {
      if (bytes.includes(secret)) found.push(`${secret} is in ${name}`);
    }
  }
  expect(found).toEqual([]);
  const sent = (all: typeof hits.tea): readonly string[] =>
    SECRETS.filter((secret) => JSON.stringify(all).includes(secret));
  expect(sent(hits.tea)).toEqual([WRONG, FIRST, SECOND, PLAIN]);
  expect(sent(hits.coffee)).toEqual([MOVED]);
});
