/** Attempts: each step once, by the browser that began it, and the same answer to a double click. */

import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test, vi } from "vitest";

import type { Sql } from "../../src/lib/sql.ts";
import type { LoginStep } from "../../src/auth/trace/trace.ts";
import { AttemptSeal } from "../../src/auth/sign-in/held-attempt.ts";
import { Attempts, type NewAttempt } from "../../src/auth/store/attempts.ts";
import { allShards } from "../../src/auth/store/shards.ts";
import type { Browser, Page } from "../support/oauth-browser.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { answerIn, Asking, ownersBrowser } from "./asking.ts";
import { passTime } from "./clock.ts";
import { FakeProvider } from "./fake-provider.ts";
import { ORIGIN } from "./gateway.ts";
import { browserOf, signInGateway } from "./sign-in-gateway.ts";

const MINUTE = 60_000;

/** Sends the same form several times at once, each with the cookies that the page left. */
function postAtOnce(
  times: number,
  { jar }: Browser,
  page: Page,
  fields: Readonly<Record<string, string>>,
): Promise<readonly Response[]> {
  const { controls = [], action = "" } =
    page.forms.findLast((form) => form.controls.some(({ name }) => name === "handle")) ?? {};
  const handle = controls.find(({ name }) => name === "handle")?.value ?? "";
  const headers = {
    "Content-Type": "application/x-www-form-urlencoded",
    Cookie: jar.headerFor(page.url, "POST", false) ?? "",
  };
  const body = new URLSearchParams({ handle, ...fields }).toString();
  const { send } = signInGateway();
  const post = () => send(ORIGIN + action, { method: "POST", headers, body });
  return Promise.all(Array.from({ length: times }, post));
}

const seen = (responses: readonly Response[]): readonly string[] => [
  ...new Set(responses.map(({ status, headers }) => `${status} ${headers.get("location")}`)),
];

describe("the same answer is returned", () => {
  test("B46: to eight concurrent approvals: one code, which is valid once", async ({ expect }) => {
    const asking = await Asking.begin();
    const browser = await ownersBrowser();
    const page = await asking.visit({}, browser);
    const responses = await postAtOnce(8, browser, page, { decision: "approve" });
    expect(seen(responses)).toEqual([
      expect.stringMatching(/^303 http:\/\/127\.0\.0\.1:9\/cb\?code=/),
    ]);
    const location = responses[0]?.headers.get("location") ?? "";
    const redeemed = await Promise.all(responses.map(() => asking.redeem(location)));
    expect(redeemed.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("B46: for ten seconds, and not after that", async ({ expect }) => {
    const asking = await Asking.begin();
    const browser = await ownersBrowser();
    const page = await asking.visit({}, browser);
    const post = () => postAtOnce(1, browser, page, { decision: "approve" });
    passTime(0);
    const first = seen(await post());
    passTime(9_999);
    expect(seen(await post())).toEqual(first);
    passTime(1);
    expect(seen(await post())).toEqual(["400 null"]);
  });

  test("to a repeated denial, also when it is a page", async ({ expect }) => {
    const redirect_uris = ["https://denied.client.example/cb"];
    const asking = await Asking.begin({ redirect_uris, token_endpoint_auth_method: "none" });
    const browser = browserOf();
    const page = await asking.visit({}, browser);
    const responses = await postAtOnce(2, browser, page, { decision: "deny" });
    const texts = await Promise.all(responses.map((response) => response.text()));
    for (const text of texts) expect(text).toContain("Return to denied.client.example");
  });

  test("to a repeated code of the owner, with the same session", async ({ expect }) => {
    const browser = browserOf();
    const page = await browser.visit("/login");
    const responses = await postAtOnce(4, browser, page, { code: OWNER_CODE });
    expect(seen(responses)).toEqual(["303 /account"]);
    const cookies = responses.map(({ headers }) => headers.getSetCookie().join());
    expect(new Set(cookies).size).toBe(1);
    expect(cookies[0]).toContain("__Host-edgeway-session=");
  });
});

/** The latest refusal that the login doctor has heard of. */
const refusalIn = (steps: readonly LoginStep[]): LoginStep | undefined =>
  steps.findLast(({ kind }) => kind === "attempt_refused");

describe("an attempt", () => {
  test("expires ten minutes after it began, and the login doctor knows why", async ({ expect }) => {
    const steps: LoginStep[] = [];
    const asking = await Asking.begin(undefined, { steps });
    const browser = await ownersBrowser({ steps });
    const page = await asking.visit({}, browser);
    const cookies = browser.jar.all;
    const elsewhere = await browserOf({ steps }).submit(page, { button: "Approve" });
    expect([elsewhere.status, refusalIn(steps)]).toMatchObject([400, { reason: "other-browser" }]);
    passTime(10 * MINUTE);
    const answered = await browser.submit(page, { button: "Approve" });
    expect([answered.status, answered.left]).toEqual([400, undefined]);
    expect(refusalIn(steps)).toMatchObject({ reason: "expired" });
    // A browser cannot make it last.
    for (const cookie of cookies) browser.jar.put({ ...cookie, expiresAt: undefined });
    expect((await browser.submit(page, { button: "Approve" })).status).toBe(400);
  });

  test("expires at a provider as well", async ({ expect }) => {
    const steps: LoginStep[] = [];
    const provider = new FakeProvider("one");
    const options = { steps, providers: [provider] };
    const browser = browserOf(options);
    const { left } = await browser.visit("/login");
    passTime(10 * MINUTE);
    const back = await browser.visit(provider.wayBack(left));
    expect([back.status, provider.finished]).toEqual([400, []]);
    expect(refusalIn(steps)).toMatchObject({ reason: "expired" });
  });

  test("moves from consent to sign-in, and never back", async ({ expect }) => {
    const asking = await Asking.begin();
    const browser = browserOf();
    const page = await asking.visit({}, browser);
    const login = await browser.submit(page, { button: "Approve" });
    expect(login.url.pathname).toBe("/login");
    passTime(10_000);
    expect((await browser.submit(page, { button: "Approve" })).status).toBe(400);
    const done = await browser.submit(login, { fields: { code: OWNER_CODE } });
    expect(answerIn(done.left)).toMatchObject({ state: asking.state, iss: ORIGIN });
    expect((await asking.redeem(done.left ?? "")).status).toBe(200);
  });

  test("continues while its objects are moved", async ({ expect }) => {
    const asking = await Asking.begin();
    const browser = browserOf();
    const page = await asking.visit({}, browser);
    await abortAllDurableObjects();
    const login = await browser.submit(page, { button: "Approve" });
    await abortAllDurableObjects();
    const done = await browser.submit(login, { fields: { code: OWNER_CODE } });
    await abortAllDurableObjects();
    expect((await asking.redeem(done.left ?? "")).status).toBe(200);
  });

  test("is stored without the addresses of its application, which may be many", async ({
    expect,
  }) => {
    const many = { redirect_uris: ["https://a.client.example/cb", "https://a.client.example/b"] };
    const options = { steps: [] };
    const asking = await Asking.begin({ ...many, token_endpoint_auth_method: "none" }, options);
    const sealed = vi.spyOn(AttemptSeal.prototype, "content");
    const page = await asking.visit({}, browserOf(options));
    const [[content] = []] = sealed.mock.calls;
    sealed.mockRestore();
    expect(page.status).toBe(200);
    expect(content).toMatchObject({ client: { id: asking.client.client_id } });
    const kept = JSON.stringify(content);
    expect([kept.includes(many.redirect_uris[0] ?? ""), kept.includes("/b")]).toEqual([
      true,
      false,
    ]);
  });

  test("is stored encrypted", async ({ expect }) => {
    const content = { kind: "visit", startedAt: 1, needsLogin: false, to: "/account" } as const;
    const [one, other] = [await AttemptSeal.of("one"), await AttemptSeal.of("other")];
    const sealed = await one.content(content);
    expect(await one.openContent(sealed)).toEqual(content);
    await expect(other.openContent(sealed)).rejects.toThrow("its own handle");
    await expect(one.openAnswer(sealed)).rejects.toThrow("its own handle");
    const state = "canary-of-a-state";
    const asking = await Asking.begin();
    const page = await asking.visit({ state }, browserOf());
    const handle = page.forms[0]?.controls.find(({ name }) => name === "handle")?.value ?? "";
    expect(handle).toMatch(/^[\w-]{43}\.\d{13}$/);
    const kept = await Promise.all(
      allShards("t").map((name) =>
        runInDurableObject(env.AUTH.getByName(name), (_, { storage }) =>
          JSON.stringify([...storage.sql.exec("SELECT * FROM attempts_1")]),
        ),
      ),
    );
    expect(kept.join("").length).toBeGreaterThan(500);
    for (const secret of [state, handle, asking.client.client_id, "127.0.0.1"]) {
      expect(kept.join("")).not.toContain(secret);
    }
  });
});

/** Takes the step of the consent page, which must be free. */
async function claimOf(attempts: Attempts): Promise<number> {
  const taken = await attempts.take("id", "browser", "consent");
  if (taken.kind !== "taken") throw new Error(taken.kind);
  return taken.claim;
}

describe("in the records,", () => {
  interface Fixture {
    readonly attempts: Attempts;
    readonly sql: Sql;
    now: number;
  }

  function withAttempts<T>(act: (fixture: Fixture) => Promise<T>): Promise<T> {
    const object = env.SESSIONS.get(env.SESSIONS.newUniqueId());
    return runInDurableObject(object, (_, { storage: { sql } }) => {
      const clock = { now: 1_000_000 };
      const attempts = new Attempts(sql, () => clock.now);
      return act(Object.assign(clock, { sql, attempts }));
    });
  }

  const NEW: NewAttempt = {
    ...{ id: "id", browser: "browser", stage: "consent", content: "content" },
    expiresAt: 2_000_000,
  };

  test("one of many requests takes a step, and the others wait for its result", ({ expect }) =>
    withAttempts(async ({ attempts }) => {
      attempts.open(NEW);
      const all = Array.from({ length: 5 }, () => attempts.take("id", "browser", "consent"));
      const [first, ...others] = all;
      expect(await first).toEqual({ kind: "taken", content: "content", claim: 1_000_000 });
      attempts.settle("id", { claim: 1_000_000, answer: "answer" });
      for (const other of others)
        expect(await other).toEqual({ kind: "answered", answer: "answer" });
    }));

  test("waiting requests get nothing when the step has no result", ({ expect }) =>
    withAttempts(async ({ attempts }) => {
      attempts.open(NEW);
      const claim = await claimOf(attempts);
      const other = attempts.take("id", "browser", "consent");
      attempts.settle("id", { claim });
      expect(await other).toEqual({ kind: "gone" });
    }));

  test("a step that failed is free again, for one of the requests that wait", ({ expect }) =>
    withAttempts(async ({ attempts }) => {
      attempts.open(NEW);
      const failing = await claimOf(attempts);
      const others = Array.from({ length: 4 }, () => attempts.take("id", "browser", "consent"));
      attempts.settle("id", { claim: failing, stage: "consent" });
      const next = await Promise.race(others);
      if (next.kind !== "taken") throw new Error(next.kind);
      // What the first request says later is about its own claim alone.
      attempts.settle("id", { claim: failing, stage: "consent" });
      expect(attempts.find("id", "browser")).toBeUndefined();
      attempts.settle("id", { claim: next.claim, answer: "answer" });
      const kinds = (await Promise.all(others)).map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual(["answered", "answered", "answered", "taken"]);
    }));

  test("a step that can be taken again answers those who wait, if it has an answer", ({ expect }) =>
    withAttempts(async ({ attempts }) => {
      attempts.open(NEW);
      const claim = await claimOf(attempts);
      const other = attempts.take("id", "browser", "consent");
      attempts.settle("id", { claim, stage: "consent", answer: "answer" });
      expect(await other).toEqual({ kind: "answered", answer: "answer" });
      expect(await claimOf(attempts)).toBeGreaterThan(claim);
    }));

  test("a waiting request is also served after a restart of the object", ({ expect }) =>
    withAttempts(async (fixture) => {
      fixture.attempts.open(NEW);
      const claim = await claimOf(fixture.attempts);
      const next = new Attempts(fixture.sql, () => fixture.now);
      const other = next.take("id", "browser", "consent");
      next.settle("id", { claim, answer: "answer" });
      expect(await other).toEqual({ kind: "answered", answer: "answer" });
    }));

  test("no request waits longer than an answer is repeated", ({ expect }) =>
    withAttempts(async (fixture) => {
      const { attempts } = fixture;
      attempts.open(NEW);
      await attempts.take("id", "browser", "consent");
      fixture.now += 9_999;
      expect(await attempts.take("id", "browser", "consent")).toEqual({ kind: "gone" });
    }));

  test.for([
    ["another handle", "other", "browser", "consent"],
    ["another browser", "id", "other", "consent"],
    ["another stage", "id", "browser", "login"],
  ] as const)("%s takes no step", ([, id, browser, stage], { expect }) =>
    withAttempts(async ({ attempts }) => {
      attempts.open(NEW);
      expect(await attempts.take(id, browser, stage)).toEqual({ kind: "gone" });
      expect(attempts.find("id", "browser")).toEqual({ stage: "consent", content: "content" });
    }),
  );

  test("a step that was settled leads to the next one", ({ expect }) =>
    withAttempts(async (fixture) => {
      const { attempts } = fixture;
      attempts.open(NEW);
      const claim = await claimOf(attempts);
      expect(attempts.find("id", "browser")).toBeUndefined();
      attempts.settle("id", { claim, stage: "login", content: "more", answer: "there" });
      expect(attempts.find("id", "browser")).toEqual({ stage: "login", content: "more" });
      expect(await attempts.take("id", "browser", "consent")).toEqual({
        ...{ kind: "answered", answer: "there" },
      });
      expect(await attempts.take("id", "browser", "login")).toMatchObject({
        kind: "taken",
        content: "more",
      });
      expect(await attempts.take("id", "browser", "consent")).toEqual({ kind: "gone" });
    }));

  test("content changes at its own stage only", ({ expect }) =>
    withAttempts(async ({ attempts }) => {
      attempts.open(NEW);
      expect(attempts.change("id", "browser", { stage: "login", content: "x" })).toBe(false);
      expect(attempts.change("id", "other", { stage: "consent", content: "x" })).toBe(false);
      expect(attempts.change("id", "browser", { stage: "consent", content: "y" })).toBe(true);
      expect(attempts.find("id", "browser")).toEqual({ stage: "consent", content: "y" });
    }));

  test("expired attempts are not found, and are deleted", ({ expect }) =>
    withAttempts(async (fixture) => {
      const { attempts, sql } = fixture;
      const rows = () => [...sql.exec("SELECT id FROM attempts_1")].length;
      attempts.open(NEW);
      fixture.now = NEW.expiresAt - 1;
      attempts.sweep();
      expect([attempts.find("id", "browser") === undefined, rows()]).toEqual([false, 1]);
      fixture.now = NEW.expiresAt;
      expect(attempts.find("id", "browser")).toBeUndefined();
      expect(await attempts.take("id", "browser", "consent")).toEqual({ kind: "gone" });
      attempts.sweep();
      expect(rows()).toBe(0);
    }));
});
