/** What an object knows of the vaults that have it on record, over its lives, and whatever happens while it asks. */

import { describe, test, vi } from "vitest";

import { HeldAccounts } from "../../../src/accounts/held-accounts.ts";
import type { AccountKey } from "../../../src/upstream/server-key.ts";

const account = (accountId: string, owner = "person p"): AccountKey => ({
  ...{ slug: "s", accountId, owner },
});

/** An object and the vaults that it asks: each request waits until the test answers it. */
class Scene {
  /** What is stored with the object. */
  noted: readonly string[] = [];
  readonly asked: string[] = [];
  readonly ended: string[] = [];
  #answers: PromiseWithResolvers<boolean>[] = [];

  /** The object begins another life. */
  begin(): HeldAccounts {
    const ask = (what: string): Promise<boolean> => {
      this.asked.push(what);
      const answer = Promise.withResolvers<boolean>();
      this.#answers.push(answer);
      return answer.promise;
    };
    return new HeldAccounts({
      hold: ({ accountId }) => ask(accountId),
      release: async (owner) => void (await ask(`without ${owner}`)),
      read: () => this.noted,
      write: (ids) => (this.noted = ids),
      onEnded: async ({ accountId }) => void this.ended.push(accountId),
      waitUntil: () => undefined,
    });
  }

  /** The vault answers the oldest of the requests that it has. @param answer an error when it cannot be reached. */
  async answer(answer: boolean | Error): Promise<void> {
    await turn();
    const request = this.#answers.shift();
    if (typeof answer === "boolean") request?.resolve(answer);
    else request?.reject(answer);
    await turn();
  }
}

/** All that needs no answer is done by then. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
const UNREACHABLE = new Error("The vault cannot be reached");

describe("an object that holds an account", () => {
  test("is on record once the vault has said so, in its later lives as well", async ({
    expect,
  }) => {
    const scene = new Scene();
    const held = scene.begin();
    held.hold(account("a"));
    held.hold(account("a"));
    held.retry();
    await turn();
    expect([scene.asked, scene.noted]).toEqual([["a"], []]);
    await scene.answer(true);
    expect(scene.noted).toEqual(["a"]);
    held.retry();
    scene.begin().hold(account("a"));
    await turn();
    expect([scene.asked, scene.ended]).toEqual([["a"], []]);
  });

  test("that dies while it asks, asks in its next life", async ({ expect }) => {
    const scene = new Scene();
    scene.begin().hold(account("a"));
    const next = scene.begin();
    next.hold(account("a"));
    await turn();
    expect(scene.asked).toEqual(["a", "a"]);
  });

  test("asks again, in the same life, a vault that could not be reached", async ({ expect }) => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const scene = new Scene();
    const held = scene.begin();
    held.hold(account("a"));
    await scene.answer(UNREACHABLE);
    expect(logged).toHaveBeenCalledOnce();
    logged.mockRestore();
    expect(scene.noted).toEqual([]);
    held.retry();
    await scene.answer(true);
    expect([scene.asked, scene.noted]).toEqual([["a", "a"], ["a"]]);
  });

  test("ends what it keeps of an account that is over by then", async ({ expect }) => {
    const scene = new Scene();
    const held = scene.begin();
    held.hold(account("a"));
    await scene.answer(false);
    held.retry();
    await turn();
    expect([scene.ended, scene.asked]).toEqual([["a"], ["a"]]);
  });

  test("forgets the accounts that it does not hold any more", async ({ expect }) => {
    const scene = new Scene();
    scene.noted = ["before", "a"];
    const held = scene.begin();
    held.hold(account("a"));
    held.hold(account("b"));
    await scene.answer(true);
    expect([scene.asked, scene.noted]).toEqual([["b"], ["a", "b"]]);
  });
});

describe("an object that ends", () => {
  test("is taken off the record of each vault, and stores nothing", async ({ expect }) => {
    const scene = new Scene();
    scene.noted = ["a", "b"];
    const held = scene.begin();
    held.hold(account("a"));
    held.hold(account("b"));
    held.hold(account("c", "shared"));
    await turn();
    const released = held.release();
    await turn();
    // What was asked before is answered first.
    expect(scene.asked).toEqual(["c", "without person p"]);
    await scene.answer(true);
    await scene.answer(true);
    await scene.answer(true);
    await released;
    expect([scene.asked.at(-1), scene.noted]).toEqual(["without shared", ["a", "b"]]);
  });

  test("and is used again, is on record after that", async ({ expect }) => {
    const scene = new Scene();
    const held = scene.begin();
    held.hold(account("a"));
    await scene.answer(true);
    const released = held.release();
    scene.noted = [];
    held.hold(account("a"));
    await scene.answer(true);
    await released;
    await scene.answer(true);
    expect([scene.asked, scene.noted]).toEqual([["a", "without person p", "a"], ["a"]]);
  });
});
