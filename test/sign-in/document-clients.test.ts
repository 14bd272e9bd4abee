/** Clients that claim a URL as their id: which documents are loaded, how often, and which never. */

import { afterEach, describe, test, vi } from "vitest";

import type { CanaryAnswer } from "../support/canary-script.ts";
import type { Browser, Page } from "../support/oauth-browser.ts";
import { REDIRECT_URI } from "../support/oauth-requests.ts";
import { Asking } from "./asking.ts";
import { escapes, hitsAt, newHost, serveAt, serveJsonAt } from "./canary.ts";
import { passTime } from "./clock.ts";
import { newBrowser } from "./gateway.ts";
import { browserOf } from "./sign-in-gateway.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

async function visitAs(client_id: string, browser: Browser = browserOf()): Promise<Page> {
  const asking = await Asking.begin({ client_id, redirect_uris: [REDIRECT_URI] });
  return asking.visit({}, browser);
}

function documentOf(client_id: string, members: object = {}): object {
  return { client_id, client_name: "Documented", redirect_uris: [REDIRECT_URI], ...members };
}

/**
 * @returns the text of a refusal, without the parts that differ between two. @throws Error if the
 *   response is not a refusal.
 */
function wordsOf({ status, left, text }: Page): string {
  if (status !== 400 || left !== undefined) throw new Error(`${status} ${left?.href}: ${text}`);
  return text.replace(/Reference [a-z0-9]+/, "");
}

test("B51: a document is requested once, and the page shows its host", async ({ expect }) => {
  const host = newHost();
  const id = `https://${host}/ok.json`;
  await serveJsonAt(id, documentOf(id));
  for (let n = 0; n < 2; n++) {
    const page = await visitAs(id);
    expect([page.status, page.left]).toEqual([200, undefined]);
    expect(page.text).toContain(host);
  }
  expect(await hitsAt(host)).toMatchObject([{ url: id, method: "GET" }]);
});

const json = (document: object): CanaryAnswer => ({ body: JSON.stringify(document) });

const ANSWERS: readonly (readonly [string, (id: string) => CanaryAnswer])[] = [
  ["B52: another's document", (id) => json(documentOf(`${id}2`))],
  ["B52: 404", () => ({ status: 404 })],
  ["B52: no JSON", () => ({ body: "hello" })],
  ["B52: 6 KB", (id) => json(documentOf(id, { x: "x".repeat(6 * 1024) }))],
  ["B52: no redirect_uris", (id) => json(documentOf(id, { redirect_uris: undefined }))],
  ["B52: a secret", (id) => json(documentOf(id, { client_secret: "s" }))],
  [
    "B55: JSON as HTML",
    (id) => ({ ...json(documentOf(id)), headers: { "Content-Type": "text/html" } }),
  ],
];

describe("an invalid document is refused in the same words, and requested once:", () => {
  test.for(ANSWERS)("B56, %s", async ([, answerFor], { expect }) => {
    const host = newHost();
    const id = `https://${host}/x.json`;
    await serveAt(id, answerFor(id));
    const words = wordsOf(await visitAs(`https://${newHost()}/nothing.json`));
    for (let n = 0; n < 10; n++) expect(wordsOf(await visitAs(id))).toBe(words);
    expect(await hitsAt(host)).toHaveLength(1);
  });

  test("B53: one at another address, which is not requested", async ({ expect }) => {
    const [host, other] = [newHost(), newHost()];
    const [id, victim] = [`https://${host}/redir.json`, `https://${other}/victim.json`];
    await serveAt(id, { status: 302, headers: { Location: victim } });
    await serveJsonAt(victim, documentOf(id));
    const words = wordsOf(await visitAs(`https://${newHost()}/nothing.json`));
    expect(wordsOf(await visitAs(id))).toBe(words);
    expect([(await hitsAt(host)).length, await hitsAt(other)]).toEqual([1, []]);
  });
});

/** Every request that has this name in its address. */
async function hitsWith(name: string): ReturnType<typeof escapes> {
  const places = [await hitsAt(name), await hitsAt(`${name}:8443`), await escapes()];
  return places.flat().filter(({ url }) => url.includes(name));
}

describe("B54: an address that cannot be a document's is not requested:", () => {
  test.for([
    "http://C/ok.json",
    "https://127.0.0.1/C",
    "https://[::1]/C",
    "https://2130706433/C",
    "https://localhost/C",
    "https://C:8443/ok.json",
    "https://u@C/ok.json",
    "https://C/",
    "https://C/a/../ok.json",
    "https://C/ok.json#f",
    "https://UPPER/ok.json",
  ])("%s", async (spelling, { expect }) => {
    const host = newHost();
    const id = spelling.replace("C", host).replace("UPPER", host.toUpperCase());
    // Were it asked, it would be a client.
    await serveJsonAt(id, documentOf(id));
    const { status, left } = await visitAs(id);
    expect([status, left, await hitsWith(host)]).toEqual([400, undefined, []]);
  });
});

describe("B56: of fifty addresses that one person names in a minute", () => {
  test.for([
    ["of one host", (host: string, n: number) => `https://${host}/${n}.json`],
    ["of as many hosts", (host: string, n: number) => `https://${n}-${host}/x.json`],
  ] as const)("%s", async ([, addressOf], { expect }) => {
    passTime(0); // the clock stands: none of them is allowed because it took long
    const host = newHost();
    const browser = browserOf();
    const pages: Page[] = [];
    for (let n = 0; n < 50; n++) pages.push(await visitAs(addressOf(host, n), browser));
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([400, 429]));
    for (const { status, headers } of pages.slice(-10)) {
      expect([status, Number(headers.get("retry-after")) > 0]).toEqual([429, true]);
    }
    const id = `https://${newHost()}/ok.json`;
    await serveJsonAt(id, documentOf(id));
    expect((await visitAs(id)).status).toBe(200);
  });
});

test.for(["%0A[ERROR]%20forged", "\n[ERROR] forged", "\r\n[ERROR] forged"])(
  "B57: an address that contains %j is refused, and forges no line",
  async (forged, { expect }) => {
    const host = newHost();
    const lines: string[] = [];
    for (const level of ["log", "info", "warn", "error", "debug"] as const) {
      vi.spyOn(console, level).mockImplementation((...args) => void lines.push(args.join(" ")));
    }
    const { status, left } = await visitAs(`https://${host}/x${forged}`, newBrowser());
    expect([status, left, await hitsAt(host)]).toEqual([400, undefined, []]);
    expect(lines.filter((line) => /[\r\n]|^\[ERROR\]/.test(line))).toEqual([]);
  },
);
