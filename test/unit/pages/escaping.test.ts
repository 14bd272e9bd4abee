/** Hostile text in every place of every page: it stays text, and moves nothing around it. */

import { describe, test } from "vitest";

import { page } from "../../../src/pages/respond.ts";
import { accountView } from "../../../src/pages/view/account-view.ts";
import { adminView } from "../../../src/pages/view/admin-view.ts";
import { adminServersView } from "../../../src/pages/view/admin-servers-view.ts";
import { accountProblemView } from "../../../src/pages/view/account-problem-view.ts";
import { candidatesView } from "../../../src/pages/view/candidates-view.ts";
import { catalogView } from "../../../src/pages/view/catalog-view.ts";
import { connectAccountView } from "../../../src/pages/view/connect-account-view.ts";
import { connectedView } from "../../../src/pages/view/connected-view.ts";
import { connectView } from "../../../src/pages/view/connect-view.ts";
import { consentView } from "../../../src/pages/view/consent-view.ts";
import { keyCreatedView, serviceCreatedView } from "../../../src/pages/view/credentials-view.ts";
import { editReviewView } from "../../../src/pages/view/edit-review-view.ts";
import { exportView } from "../../../src/pages/view/export-view.ts";
import { editServerView } from "../../../src/pages/view/edit-server-view.ts";
import type { Html } from "../../../src/pages/view/html.ts";
import type { View } from "../../../src/pages/view/layout.ts";
import { loginsView, loginTraceView } from "../../../src/pages/view/logins-view.ts";
import { doneView, problemView } from "../../../src/pages/view/problem-view.ts";
import {
  confirmView,
  outcomeView,
  questionsView,
  runView,
} from "../../../src/pages/view/run-view.ts";
import { serverView } from "../../../src/pages/view/server-view.ts";
import { setupDoneView, setupView, signInView } from "../../../src/pages/view/sign-in-view.ts";
import { toolView } from "../../../src/pages/view/tool-view.ts";
import { unlistedToolView } from "../../../src/pages/view/unlisted-tool-view.ts";
import { ADDED_MODELS } from "../../support/added-server-models.ts";
import { ACCOUNT_MODELS } from "../../support/account-page-models.ts";
import { CATALOG_MODELS } from "../../support/catalog-models.ts";
import { MODELS } from "../../support/page-models.ts";
import { HOSTILE } from "../../support/page-samples.ts";

/** What a view takes for a choice between a few words, which no stranger makes. */
const CHOICES: ReadonlySet<string> = new Set([
  ...[
    "kind",
    "outcome",
    "field",
    "state",
    "effect",
    "current",
    "type",
    "prefix",
    "reach",
    "auth",
    "auths",
  ],
]);

/** The same model with that text wherever it has one. */
function withText<T>(model: T, text: string): T {
  const replace = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return CHOICES.has(key) ? value : text;
    if (Array.isArray(value)) return value.map((each: unknown) => replace(each, key));
    if (typeof value !== "object" || value === null || value instanceof Map) return value;
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, replace(v, k)]));
  };
  return replace(model, "") as T;
}

const runOf = (text: string, content: Html): View =>
  runView(withText(CATALOG_MODELS.run, text), content);

const PAGES: readonly (readonly [name: string, view: (text: string) => View])[] = [
  ["consent", (text) => consentView(withText(MODELS.consent, text))],
  ["sign-in", (text) => signInView(withText(MODELS.signIn, text))],
  ["setup", (text) => setupView({ handle: text, nonce: text })],
  ["setup-done", (text) => setupDoneView(text)],
  ["problem", (text) => problemView(withText(MODELS.problem, text))],
  ["account", (text) => accountView(withText(MODELS.account, text))],
  ["key-created", (text) => keyCreatedView(withText(MODELS.keyCreated, text))],
  ["admin", (text) => adminView(withText(MODELS.admin, text))],
  ["admin-servers", (text) => adminServersView(withText(ADDED_MODELS.list, text))],
  ["candidates", (text) => candidatesView(withText(ADDED_MODELS.candidates, text))],
  ["edit-server", (text) => editServerView(withText(ADDED_MODELS.edit, text))],
  ["export-servers", (text) => exportView(withText(ADDED_MODELS.exported, text))],
  ["edit-review", (text) => editReviewView(withText(ADDED_MODELS.review, text))],
  ["service-created", (text) => serviceCreatedView(withText(MODELS.serviceCreated, text))],
  ["logins", (text) => loginsView(withText(MODELS.logins, text))],
  ["login-trace", (text) => loginTraceView(withText(MODELS.trace, text))],
  [
    "connect",
    (text) => {
      const model = withText(MODELS.connect, text);
      return connectView({ ...model, server: model.servers[0], client: "vs-code" });
    },
  ],
  ["link", (text) => connectAccountView(withText(ACCOUNT_MODELS.signIn, text))],
  ["link-key", (text) => connectAccountView(withText(ACCOUNT_MODELS.key, text))],
  ["link-connected", (text) => connectedView(withText(ACCOUNT_MODELS.connected, text))],
  ["link-problem", (text) => accountProblemView(withText(ACCOUNT_MODELS.problem, text))],
  ["catalog", (text) => catalogView(withText(CATALOG_MODELS.catalog, text))],
  ["catalog-server", (text) => serverView(withText(CATALOG_MODELS.server, text))],
  ["catalog-tool", (text) => toolView(withText(CATALOG_MODELS.tool, text))],
  ["catalog-tool-asked", (text) => unlistedToolView(withText(CATALOG_MODELS.unlisted, text))],
  ["tool-confirm", (text) => confirmView(withText(CATALOG_MODELS.run, text))],
  ["tool-result", (text) => runOf(text, outcomeView(withText(CATALOG_MODELS.result, text), 1, 2))],
  [
    "tool-questions",
    (text) => {
      const run = withText(CATALOG_MODELS.run, text);
      return runOf(text, questionsView(run, withText(CATALOG_MODELS.questions, text)));
    },
  ],
  ["done", (text) => doneView(text, text)],
];

/** What a browser makes of a page: its elements with the names of their attributes, and its text. */
async function readPage(view: View): Promise<{ elements: string[]; text: string }> {
  const elements: string[] = [];
  let text = "";
  const reader = new HTMLRewriter()
    .on("*", {
      element(element) {
        const names = Array.from(element.attributes, ([name]) => name);
        elements.push([element.tagName, ...names].join(" "));
      },
    })
    .on("body, title", {
      text(chunk) {
        text += chunk.text;
      },
    });
  await reader.transform(page(view, { origin: "https://mcp.example.com" })).text();
  return { elements, text };
}

describe("hostile text", () => {
  test.for(PAGES)(
    "B29, U73: adds no element and no attribute to %s",
    async ([, view], { expect }) => {
      const hostile = await readPage(view(HOSTILE));
      const harmless = await readPage(view("harmless"));
      expect(hostile.elements).toEqual(harmless.elements);
      expect(hostile.text).not.toContain("<");
      expect(hostile.text.includes("&lt;script&gt;")).toBe(harmless.text.includes("harmless"));
    },
  );

  test.for(PAGES)("B29, U73: turns no text around on %s", async ([, view], { expect }) => {
    const { text } = await readPage(view(`a\u202Eb\u2066c`));
    expect(text).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200E\u200F]/);
  });
});

describe("a link to a target without a trusted host", () => {
  test.for(["javascript:alert(1)", "data:text/html,x", " https://x", "//x", "JaVaScRiPt:x"])(
    "is none for %j",
    async (href, { expect }) => {
      const returnTo = { href, host: "x" };
      const { elements } = await readPage(problemView({ ...MODELS.problem, returnTo }));
      expect(elements.filter((element) => element.startsWith("a "))).toEqual([]);
    },
  );
});
