/** A server that wants accounts, added at its page: people connect theirs at it, and none goes along when it moves. */

import { afterAll, beforeAll, test } from "vitest";

import { Browser, type Page } from "../support/oauth-browser.ts";
import { signIn } from "../support/oauth-client.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { Vendor } from "../support/vendor/vendor.ts";
import { startVendors, type Vendors } from "../support/vendor/vendors.ts";
import { connectAccount, linkIn } from "./account-links.ts";
import { outcomeOf, textOf } from "./outcome.ts";
import { Application } from "./sign-in-suite.ts";

const LIST = "/admin/servers";

let vendors: Vendors;
let gateway: Server;
beforeAll(async () => {
  [vendors, gateway] = await Promise.all([
    startVendors(),
    startGateway({ auth: "oauth", servers: { demo: { service: "DEMO" } } }),
  ]);
});
afterAll(async () => {
  await gateway?.stop();
  await vendors?.stop();
});

test("a server that is added is one at which people connect their accounts, and its next address is another", async ({
  expect,
}) => {
  const [notes, moved] = [await Vendor.take(vendors.origin), await Vendor.take(vendors.origin)];
  const browser = new Browser(gateway.url, overHttp);
  await signIn(browser, OWNER_CODE);
  const kind = SDK_V2.find(({ name }) => name === "v2-legacy");
  if (kind === undefined) throw new Error("There is no such SDK");
  const application = new Application(gateway.url, kind, undefined, fetch);
  const connection = await application.connect();
  const call = async (): Promise<string> => {
    const outcome = await outcomeOf(connection.callTool("notes__whoami"));
    return "content" in outcome ? textOf(outcome) : String(outcome["message"]);
  };
  const review = async (fields: Readonly<Record<string, string>>): Promise<Page> =>
    browser.submit(await browser.visit(`${LIST}/notes/edit`), {
      button: "See what changes",
      fields,
    });

  const list = await browser.visit(LIST);
  const read = await browser.submit(list, { button: "Read it", fields: { text: notes.url } });
  const draft = await browser.submit(read, {
    button: "Keep as a draft",
    fields: { "slug-0": "notes" },
  });
  expect(draft.text).toMatch(/Wants a login.*choose there whether each person connects their own/s);

  const asked = await notes.count("server");
  const shown = await review({ auth: "oauth" });
  expect(shown.text).toMatch(
    /the headers here becomes each person’s own account.*each person is asked to connect their own/s,
  );
  const kept = await browser.submit(shown, { button: "Keep the change" });
  // Without an account, no request goes there.
  expect(await notes.count("server")).toBe(asked);
  await browser.submit(kept, { button: "Serve it notes" });

  const link = linkIn(await call());
  expect(link).toContain("/connect/notes");
  expect((await connectAccount(browser, link)).text).toContain("connected");
  expect(await call()).toBe("ran whoami as alice");

  const away = await review({ url: moved.url });
  expect(away.text).toContain("they connect again");
  const again = await browser.submit(away, { button: "Keep the change" });
  await browser.submit(again, { button: "Serve it notes" });
  expect(linkIn(await call())).toContain("/connect/notes");
  const { tokens } = await notes.state();
  expect(tokens.length).toBeGreaterThan(0);
  const hits = JSON.stringify(await moved.hits());
  expect(tokens.filter(({ value }) => hits.includes(value))).toEqual([]);
  await application.close();
});
