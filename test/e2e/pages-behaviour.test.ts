/** What pages do in a real browser, which no header or markup shows by itself. */

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, test } from "vitest";

import { formActionsFor, page, seeOther } from "../../src/pages/respond.ts";
import { accountView } from "../../src/pages/view/account-view.ts";
import { adminView } from "../../src/pages/view/admin-view.ts";
import { isClientId } from "../../src/pages/view/client-guides.ts";
import { connectView } from "../../src/pages/view/connect-view.ts";
import { consentView } from "../../src/pages/view/consent-view.ts";
import type { View } from "../../src/pages/view/layout.ts";
import { launchBrowser } from "../support/browser.ts";
import { MODELS } from "../support/page-models.ts";
import { SAMPLES } from "../support/page-samples.ts";
import { serveSite, type Site } from "../support/page-server.ts";
import { until } from "../support/until.ts";

const origin = "http://localhost";
let browser: Browser;
const sites: Site[] = [];

beforeAll(async () => {
  browser = await launchBrowser();
});
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await Promise.all(sites.splice(0).map((site) => site.stop()));
});
afterAll(async () => {
  await browser?.close();
});

async function serve(...answer: Parameters<typeof serveSite>): Promise<Site> {
  const site = await serveSite(...answer);
  sites.push(site);
  return site;
}

function html(text: string): Response {
  return new Response(text, { headers: { "Content-Type": "text/html" } });
}

async function show(view: View | undefined): Promise<Page> {
  if (view === undefined) throw new Error("no such sample");
  const site = await serve(() => page(view, { origin }));
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const shown = await context.newPage();
  await shown.goto(site.origin);
  return shown;
}

/** A gateway whose consent leads to another origin, and what the browser makes of it. */
async function approve(formActions: readonly string[] | "omit"): Promise<"arrived" | "blocked"> {
  const client = await serve(() => html("<h1>Back at the client</h1>"));
  const gateway = await serve(({ method }) =>
    method === "POST"
      ? seeOther(`${client.origin}/callback?code=c`, { origin })
      : page(consentView(MODELS.consent), {
          origin,
          formActions,
        }),
  );
  const shown = await (await browser.newContext()).newPage();
  await shown.goto(gateway.origin);
  const blocked = shown
    .waitForEvent("console", (message) => message.text().includes("form-action"))
    .then(() => "blocked" as const);
  const arrived = shown
    .getByRole("heading", { name: "Back at the client" })
    .waitFor()
    .then(() => "arrived" as const);
  // Of the two, one never comes.
  void Promise.allSettled([blocked, arrived]);
  await shown.getByRole("button", { name: "Approve" }).click({ noWaitAfter: true });
  return Promise.race([blocked, arrived]);
}

describe("the redirect to the client", () => {
  test("B42a: is allowed to any loopback port", async ({ expect }) => {
    expect(await approve(formActionsFor("http://127.0.0.1/callback"))).toBe("arrived");
    expect(await approve(formActionsFor("http://localhost:1/callback"))).toBe("arrived");
  });

  test("is allowed when the policy does not mention it", async ({ expect }) => {
    expect(await approve("omit")).toBe("arrived");
  });

  test("is blocked where the policy omits it, so the policy has to name it", async ({ expect }) => {
    expect(await approve([])).toBe("blocked");
    expect(await approve(formActionsFor("https://claude.ai/api/mcp/auth_callback"))).toBe(
      "blocked",
    );
  });

  test("reaches the window that opened the page, through `opener`", async ({ expect }) => {
    const gateway = await serve(({ method }) =>
      method === "POST"
        ? seeOther(`${client.origin}/callback`, { origin })
        : page(consentView(MODELS.consent), { origin, formActions: formActionsFor(client.origin) }),
    );
    const client = await serve(({ url }) =>
      html(
        url === "/callback"
          ? "<script>opener.postMessage('connected', '*')</script>"
          : `<script>onmessage = ({ data }) => { document.title = data }</script>
             <button onclick="window.open('${gateway.origin}')">Connect</button>`,
      ),
    );
    const context = await browser.newContext();
    const shown = await context.newPage();
    await shown.goto(client.origin);
    const [popup] = await Promise.all([
      context.waitForEvent("page"),
      shown.getByRole("button", { name: "Connect" }).click(),
    ]);
    await popup.getByRole("button", { name: "Approve" }).click({ noWaitAfter: true });
    await shown.waitForFunction("document.title === 'connected'");
    expect(await shown.title()).toBe("connected");
  });
});

describe("the consent page", () => {
  test("makes No as easy as Yes, and starts on neither", async ({ expect }) => {
    const shown = await show(SAMPLES["consent"]);
    const [deny, approve] = await Promise.all(
      ["Deny", "Approve"].map((name) => shown.getByRole("button", { name }).boundingBox()),
    );
    expect(deny?.width).toBe(approve?.width);
    expect(deny?.height).toBe(approve?.height);
    expect(await shown.evaluate<boolean>("document.activeElement === document.body")).toBe(true);
  });

  test("can be used by keyboard from top to bottom", async ({ expect }) => {
    const shown = await show(SAMPLES["consent"]);
    const order: string[] = [];
    for (let stops = 0; stops < 5; stops++) {
      await shown.keyboard.press("Tab");
      const name = await shown.evaluate<string>(
        "document.activeElement.textContent || document.activeElement.value",
      );
      order.push(name.replaceAll(/\s+/g, " ").trim());
    }
    expect(order).toEqual([
      "Full address",
      "Not you? Sign in with another account",
      "admin",
      "Deny",
      "Approve",
    ]);
  });

  test("takes a stray Enter for No", async ({ expect }) => {
    let sent: string | undefined;
    const gateway = await serve(({ method }, body) => {
      if (method === "POST") sent = body;
      return method === "POST"
        ? html("<h1>Sent</h1>")
        : page(consentView(MODELS.consent), { origin });
    });
    const shown = await (await browser.newContext()).newPage();
    await shown.goto(gateway.origin);
    await shown.getByRole("checkbox").press("Enter");
    await shown.getByRole("heading", { name: "Sent" }).waitFor();
    expect(new URLSearchParams(sent).get("decision")).toBe("deny");
  });
});

describe("the admin page", () => {
  test.for([true, false])(
    "asks for confirmation before it deletes for all users, with a script: %s",
    async (javaScriptEnabled, { expect }) => {
      let sent = 0;
      const site = await serve(({ method }) => {
        if (method === "POST") sent += 1;
        return method === "POST"
          ? html("<h1>Sent</h1>")
          : page(adminView(MODELS.admin), { origin });
      });
      const shown = await (await browser.newContext({ javaScriptEnabled })).newPage();
      await shown.goto(site.origin);
      const [claude] = MODELS.admin.people?.clients ?? [];
      const row = shown.getByRole("listitem").filter({ hasText: claude?.id ?? "" });
      const button = row.getByRole("button", { name: "Delete for everybody", includeHidden: true });
      expect([await button.count(), await button.isVisible(), sent]).toEqual([1, false, 0]);
      await row.locator("summary").click();
      expect([await button.isVisible(), sent]).toEqual([true, 0]);
      await button.click();
      await shown.getByRole("heading", { name: "Sent" }).waitFor();
      expect(sent).toBe(1);
    },
  );
});

describe("the connect page", () => {
  test("copies what it shows", async ({ expect }) => {
    const shown = await show(SAMPLES["connect"]);
    await shown.getByRole("button", { name: "Copy the address" }).click();
    await shown.getByRole("status").getByText("Copied the address").waitFor({ state: "attached" });
    const copied = await shown.evaluate<string>("navigator.clipboard.readText()");
    expect(copied).toBe("https://mcp.example.com/mcp");
  });

  test.for([
    ["key-created", "the key", MODELS.keyCreated.key],
    ["service-created", "the secret", MODELS.serviceCreated.secret],
  ] as const)(
    "has a counterpart where a secret is shown once: %s",
    async ([name, what, secret], { expect }) => {
      const shown = await show(SAMPLES[name]);
      await shown.getByRole("button", { name: `Copy ${what}` }).click();
      await shown.getByRole("status").getByText(`Copied ${what}`).waitFor({ state: "attached" });
      expect(await shown.evaluate<string>("navigator.clipboard.readText()")).toBe(secret);
    },
  );

  test("is complete without a script", async ({ expect }) => {
    const site = await serve(({ url = "" }) => {
      const asked = new URL(url, origin).searchParams.get("client") ?? "";
      const client = isClientId(asked) ? asked : "claude-code";
      return page(connectView({ ...MODELS.connect, client }), { origin });
    });
    const context = await browser.newContext({ javaScriptEnabled: false });
    const shown = await context.newPage();
    await shown.goto(site.origin);
    expect(await shown.getByRole("button").count()).toBe(0);
    expect(await shown.getByText("claude mcp add").isVisible()).toBe(true);
    // The other clients by the keyboard alone.
    await shown.getByRole("link", { name: "Cursor" }).focus();
    await shown.keyboard.press("Enter");
    await shown.getByRole("heading", { name: "Cursor" }).waitFor();
    expect(await shown.getByRole("link", { name: "Install in Cursor" }).isVisible()).toBe(true);
    expect(await shown.getByText("claude mcp add").count()).toBe(0);
  });
});

describe("a form", () => {
  test.for([
    { isScripted: true, times: 1 },
    { isScripted: false, times: 2 },
  ])(
    "whose button is pressed twice is sent $times times, with a script: $isScripted",
    async ({ isScripted, times }, { expect }) => {
      let sent = 0;
      const late = Promise.withResolvers<void>();
      const site = await serve(async ({ method }) => {
        if (method !== "POST") return page(accountView(MODELS.account), { origin });
        sent += 1;
        // The page stays until both clicks were made.
        await late.promise;
        return html("<h1>Done</h1>");
      });
      const context = await browser.newContext({ javaScriptEnabled: isScripted });
      const shown = await context.newPage();
      await shown.goto(site.origin);
      // With the mouse alone: a locator waits for a page that is about to go.
      const button = await shown.getByRole("button", { name: "Sign out" }).boundingBox();
      const click = (): Promise<void> =>
        shown.mouse.click((button?.x ?? 0) + 5, (button?.y ?? 0) + 5);
      await click();
      await until(() => sent === 1, "the form was sent");
      await click();
      if (!isScripted) await until(() => sent === 2, "the form was sent again");
      late.resolve();
      await shown.getByRole("heading", { name: "Done" }).waitFor();
      expect(sent).toBe(times);
    },
  );
});
