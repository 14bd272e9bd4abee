/** Forms whose body is held back: what counts is who their sender is when the body has come. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { createKey } from "../../src/pages/account.ts";
import { ApiKeys } from "../../src/auth/store/api-keys.ts";
import { Approvals } from "../../src/auth/store/approvals.ts";
import { KvRows } from "../../src/auth/store/kv-rows.ts";
import { enableUser } from "../../src/pages/admin.ts";
import { operatorOf } from "../../src/pages/operator-visit.ts";
import { sentForm } from "../../src/pages/page-visitor.ts";
import { PATHS } from "../../src/pages/view/paths.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { Asking, WEB_CLIENT } from "./asking.ts";
import { newContext } from "./context.ts";
import { FakeProvider } from "./fake-provider.ts";
import { ORIGIN } from "./gateway.ts";
import { browserOf } from "./sign-in-gateway.ts";
import { newSignIn, SESSION_COOKIE, Visitor } from "./visitor.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

type Fields = Readonly<Record<string, string>>;

interface HeldForm {
  readonly request: Request;
  /** Somebody waits for the body. */
  readonly isRead: Promise<void>;
  /** Sends the body. */
  readonly send: () => void;
}

async function heldForm(visitor: Visitor, path: string, fields: Fields): Promise<HeldForm> {
  const text = new URLSearchParams({ csrf: await visitor.formToken(), ...fields }).toString();
  const sent = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        read.resolve();
        await sent.promise;
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const headers = {
    "Content-Type": "application/x-www-form-urlencoded",
    Cookie: `${SESSION_COOKIE}=${visitor.secret}`,
    Origin: ORIGIN,
  };
  const request = new Request(ORIGIN + path, { method: "POST", headers, body });
  return { request, isRead: read.promise, send: sent.resolve };
}

/** @returns the answer to a form whose body comes only after something has happened. */
async function answerAfter(
  form: HeldForm,
  handle: (request: Request) => Promise<Response>,
  happens: () => Promise<unknown>,
): Promise<Response> {
  const answer = handle(form.request);
  await form.isRead;
  await happens();
  form.send();
  return answer;
}

describe("a form whose body comes after its sender's access has ended", () => {
  const KEY = { label: "mine", resource: `${ORIGIN}/mcp/alpha`, scope: "mcp:alpha", days: "7" };

  test("makes no key", async ({ expect }) => {
    const visitor = await Visitor.arrive();
    const { person, shard } = visitor;
    const answer = await answerAfter(
      await heldForm(visitor, PATHS.createKey, KEY),
      (request) => createKey(newContext(), request),
      () => shard.revokeEverything(person.id),
    );
    expect([answer.status, answer.headers.get("location")]).toEqual([
      303,
      newSignIn(PATHS.account),
    ]);
    expect(await shard.keys.list(person.id)).toEqual([]);
  });

  test("makes no key where the access ends after the sender was judged", async ({ expect }) => {
    const visitor = await Visitor.arrive();
    const { person, shard } = visitor;
    vi.spyOn(ApiKeys.prototype, "createWithin").mockImplementationOnce(async (...asked) => {
      await shard.revokeEverything(person.id);
      return shard.keys.createWithin(...asked);
    });
    const form = { csrf: await visitor.formToken(), ...KEY };
    const answer = await visitor.post(PATHS.createKey, form);
    expect([answer.status, answer.headers.get("location")]).toEqual([
      303,
      newSignIn(PATHS.account),
    ]);
    expect(await shard.keys.list(person.id)).toEqual([]);
  });

  test("does not enable its sender again", async ({ expect }) => {
    const root = await Visitor.arrive({ isAdmin: true });
    const { person, shard } = root;
    const answer = await answerAfter(
      await heldForm(root, PATHS.enableUser, { id: person.id }),
      (request) => enableUser(newContext(), request),
      () => shard.setDisabled(person.id, true),
    );
    expect(answer.status).toBe(303);
    expect((await shard.users.find(person.id))?.isDisabled).toBe(true);
  });

  test("is refused at a page that exists without sign-in, too", async ({ expect }) => {
    const root = await Visitor.arrive({ isAdmin: true });
    const { person, shard } = root;
    const answer = await answerAfter(
      await heldForm(root, PATHS.admin, {}),
      async (request) => {
        const sent = await sentForm(operatorOf(newContext()), request, PATHS.admin);
        return sent instanceof Response ? sent : new Response("accepted");
      },
      () => shard.setDisabled(person.id, true),
    );
    expect(answer.status).toBe(303);
  });
});

/** @returns the grants of a person, also those whose code was not redeemed, and their approvals. */
async function left({ person, shard }: Visitor): Promise<readonly (readonly unknown[])[]> {
  const { keys } = await shard.rows.list(`grant:${person.id}:`);
  return [keys, await shard.approvals.list(person.id)];
}

describe("an approval under way as the person's access ends", () => {
  test("gives no code, and is not remembered", async ({ expect }) => {
    const visitor = await Visitor.arrive();
    const { person, shard, browser } = visitor;
    const revoke = () => shard.revokeEverything(person.id);
    const asking = await Asking.begin(WEB_CLIENT);
    const page = await browser.visit(asking.url());
    vi.spyOn(Approvals.prototype, "save").mockImplementationOnce(
      (...asked) => revoke().then(() => shard.approvals.save(...asked)) as never,
    );
    const answered = await browser.submit(page, { button: "Approve" });
    expect([answered.status, answered.left]).toEqual([400, undefined]);
    expect(answered.text).toContain("signed out");
    expect(await left(visitor)).toEqual([[], []]);
  });

  test("gives no code without a page either", async ({ expect }) => {
    const visitor = await Visitor.arrive();
    const { person, shard, browser } = visitor;
    const revoke = () => shard.revokeEverything(person.id);
    const asking = await Asking.begin(WEB_CLIENT);
    const approved = await browser.submit(await browser.visit(asking.url()), { button: "Approve" });
    expect((await asking.redeem(approved.left ?? "")).status).toBe(200);
    vi.spyOn(KvRows.prototype, "put").mockImplementationOnce(
      (...asked) => revoke().then(() => shard.rows.put(...asked)) as never,
    );
    const page = await browser.visit(asking.url());
    expect([page.status, page.left]).toEqual([400, undefined]);
    expect(await left(visitor)).toEqual([[], []]);
  });
});

const failOnce = () =>
  vi.spyOn(Approvals.prototype, "save").mockImplementationOnce(() => {
    throw new Error("the object was restarted");
  });

describe("while an object fails,", () => {
  beforeEach(() => {
    // What failed is in the log, which is not of interest here.
    vi.spyOn(console, "error").mockImplementation(() => undefined);
  });

  test("B47c: an approval says that it failed, and gives a code when it is sent again", async ({
    expect,
  }) => {
    const { browser } = await Visitor.arrive();
    const asking = await Asking.begin(WEB_CLIENT);
    const page = await browser.visit(asking.url());
    failOnce();
    const failed = await browser.submit(page, { button: "Approve" });
    expect([failed.status, failed.left]).toEqual([500, undefined]);
    expect(failed.text).toContain("Go back and send the page again.");
    const approved = await browser.submit(page, { button: "Approve" });
    expect((await asking.tokens(approved)).scope).toBe("mcp");
  });

  test("approvals at once give one code: the next one does the work", async ({ expect }) => {
    const { browser } = await Visitor.arrive();
    const asking = await Asking.begin(WEB_CLIENT);
    const page = await browser.visit(asking.url());
    const save = failOnce();
    const approve = () => browser.submit(page, { button: "Approve" });
    const pages = await Promise.all([approve(), approve(), approve()]);
    const codes = new Set(pages.map(({ left }) => left?.href));
    expect([codes.size, pages.filter(({ status }) => status === 500).length]).toEqual([2, 1]);
    expect(save).toHaveBeenCalledTimes(2);
    codes.delete(undefined);
    expect((await asking.redeem([...codes][0] ?? "")).status).toBe(200);
  });

  test("the owner can send the code again", async ({ expect }) => {
    const asking = await Asking.begin(WEB_CLIENT);
    const browser = browserOf();
    const login = await browser.submit(await browser.visit(asking.url()), { button: "Approve" });
    const code = { fields: { code: OWNER_CODE } };
    failOnce();
    expect((await browser.submit(login, code)).status).toBe(500);
    expect((await asking.tokens(await browser.submit(login, code))).scope).toBe("mcp");
  });

  test("a provider's answer is spent", async ({ expect }) => {
    const provider = new FakeProvider("one");
    const options = { providers: [provider] };
    const asking = await Asking.begin(WEB_CLIENT, options);
    const browser = browserOf(options);
    const { left } = await browser.submit(await asking.visit({}, browser), { button: "Approve" });
    failOnce();
    const back = provider.wayBack(left);
    await expect(browser.visit(back)).rejects.toThrow("the object was restarted");
    expect((await browser.visit(back)).status).toBe(400);
    expect(provider.finished).toHaveLength(1);
  });
});
