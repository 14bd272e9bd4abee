/** A server of whichever era: found out when it is needed, turned to once, and no request run twice. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { EitherEra } from "../../../src/relay/either-era.ts";
import type { Peer } from "../../../src/protocol/exchange.ts";
import type { Reply } from "../../../src/protocol/json-rpc.ts";
import { ownError } from "../../../src/protocol/own-error.ts";
import type { Era } from "../../../src/protocol/revisions.ts";
import type { Dispatch } from "../../../src/sessions/dispatch.ts";
import { UpstreamError, type UpstreamFailure } from "../../../src/upstream/upstream-error.ts";
import { failureOf } from "../upstream/fake-target.ts";

const CALL = { method: "tools/call" };
const PEER: Peer = {
  notify: () => Promise.resolve(),
  ask: () => Promise.resolve({ result: {} }),
};
const never = new AbortController().signal;

const failing = (failure: UpstreamFailure): UpstreamError =>
  new UpstreamError("docs", failure, "does not do that");
const replyOf = (by: string): Reply => ({ result: { by } });

/** One way to the server: what it is told, and what it does when it is told to. */
class Side implements Dispatch {
  readonly told: string[] = [];
  readonly era: Era;
  readonly #act: (what: string) => Promise<unknown>;

  constructor(era: Era, act: (what: string) => Promise<unknown>) {
    this.era = era;
    this.#act = act;
  }

  async #do(what: string): Promise<void> {
    this.told.push(what);
    await this.#act(what);
  }

  async request({ method }: { readonly method: string }): Promise<Reply> {
    await this.#do(method);
    return replyOf(this.era);
  }

  async resume(): Promise<Reply> {
    await this.#do("resume");
    return replyOf(this.era);
  }

  async watched(): Promise<object | undefined> {
    await this.#do("watched");
    return this.era === "legacy" ? { by: "legacy" } : undefined;
  }

  readonly handedOver = (): void => undefined;
  readonly answer = (): Promise<boolean> => this.#do("answer").then(() => true);
  readonly notify = (): Promise<void> => this.#do("notify");
  readonly listen = (): Promise<void> => this.#do("listen");
  readonly receive = (): Promise<void> => this.#do("receive");
  readonly forgotten = (): Promise<void> => this.#do("forgotten");
  readonly close = (): Promise<void> => this.#do("close");
  readonly unlisten = (): void => void this.told.push("unlisten");
}

interface Scene {
  readonly either: EitherEra;
  /** As they were made. */
  readonly made: Side[];
}

/** @param act what a side of this era does when it is told something. */
function sceneOf(
  act: (era: Era, what: string) => Promise<unknown>,
  first: Era = "legacy",
  isFixed = false,
): Scene {
  const made: Side[] = [];
  const either = new EitherEra({
    ...{ slug: "docs", era: first, isFixed },
    make(era) {
      const side = new Side(era, (what) => act(era, what));
      made.push(side);
      return side;
    },
  });
  return { either, made };
}

/** A server that speaks the newer era alone. */
const modernOnly = (era: Era): Promise<void> =>
  era === "modern" ? Promise.resolve() : Promise.reject(failing("other-era"));

const request = ({ either }: Scene): Promise<Reply> => either.request(CALL, PEER, never);
const asMade = ({ made }: Scene): [Era, ...string[]][] =>
  made.map(({ era, told }) => [era, ...told]);

describe("a server of the other era", () => {
  test("is turned to once, and remembered", async ({ expect }) => {
    const scene = sceneOf(modernOnly);
    expect(await request(scene)).toEqual(replyOf("modern"));
    expect(await request(scene)).toEqual(replyOf("modern"));
    // What was listened to there is let go.
    expect(asMade(scene)).toEqual([
      ["legacy", "tools/call", "unlisten"],
      ["modern", "tools/call", "tools/call"],
    ]);
  });

  test("is turned to once by requests that find it out together", async ({ expect }) => {
    const { promise: known, resolve } = Promise.withResolvers<void>();
    const scene = sceneOf(async (era) => {
      if (era === "legacy") await known;
      return modernOnly(era);
    });
    const replies = Array.from({ length: 3 }, () => request(scene));
    resolve();
    expect(await Promise.all(replies)).toEqual(Array(3).fill(replyOf("modern")));
    expect(asMade(scene)).toEqual([
      ["legacy", ...Array<string>(3).fill("tools/call"), "unlisten"],
      ["modern", ...Array<string>(3).fill("tools/call")],
    ]);
  });

  test("is turned to without what is under way being made again", async ({ expect }) => {
    const { promise: slow, resolve } = Promise.withResolvers<void>();
    let n = 0;
    const scene = sceneOf((era) => {
      if (era === "modern") return Promise.resolve();
      return n++ === 0 ? slow : Promise.reject(failing("other-era"));
    });
    const first = request(scene);
    expect(await request(scene)).toEqual(replyOf("modern"));
    resolve();
    expect(await first).toEqual(replyOf("legacy"));
    expect(asMade(scene).at(-1)).toEqual(["modern", "tools/call"]);
  });

  test("is not left again by who finds it out late", async ({ expect }) => {
    const { promise: slow, reject } = Promise.withResolvers<void>();
    let n = 0;
    const scene = sceneOf((era) => {
      if (era === "modern") return Promise.resolve();
      return n++ === 0 ? slow : Promise.reject(failing("other-era"));
    });
    const first = request(scene);
    await request(scene);
    reject(failing("other-era"));
    expect(await first).toEqual(replyOf("modern"));
    expect(scene.made).toHaveLength(2);
  });

  test.for(["listen", "watched"] as const)("is turned to by %s", async (what, { expect }) => {
    const scene = sceneOf(modernOnly);
    expect(await scene.either[what](undefined)).toBeUndefined();
    expect(scene.either.isSilent).toBe(true);
    expect(await request(scene)).toEqual(replyOf("modern"));
    expect(asMade(scene)).toEqual([
      ["legacy", what, "unlisten"],
      ["modern", "tools/call"],
    ]);
  });
});

test("a server that refuses both eras is an error, and is tried in both again", async ({
  expect,
}) => {
  const scene = sceneOf(() => Promise.reject(failing("other-era")));
  const refused = ownError(-32603, 'Upstream "docs" does not do that', {
    ...{ upstream: "docs", reason: "other-era" },
  });
  expect(await request(scene)).toEqual(refused);
  expect(await request(scene)).toEqual(refused);
  expect(asMade(scene)).toEqual([
    ["legacy", "tools/call", "unlisten"],
    ["modern", "tools/call", "tools/call", "unlisten"],
    ["legacy", "tools/call"],
  ]);
});

test("a server says nothing unasked while it is modern", async ({ expect }) => {
  let speaks: Era = "modern";
  const scene = sceneOf((era) =>
    era === speaks ? Promise.resolve() : Promise.reject(failing("other-era")),
  );
  expect(scene.either.isSilent).toBe(false);
  await request(scene);
  expect(scene.either.isSilent).toBe(true);
  speaks = "legacy";
  await request(scene);
  expect(scene.either.isSilent).toBe(false);
  expect(await scene.either.watched(undefined)).toEqual({ by: "legacy" });
  expect(sceneOf(modernOnly, "modern").either.isSilent).toBe(true);
});

test("where the operator has said which era, there is no other", async ({ expect }) => {
  const scene = sceneOf(modernOnly, "legacy", true);
  expect(await request(scene)).toMatchObject({ error: { data: { reason: "other-era" } } });
  await scene.either.listen(undefined);
  // Nothing is sent twice.
  expect(asMade(scene)).toEqual([["legacy", "tools/call", "listen"]]);
});

describe("another failure", () => {
  test("is an error reply of a request, and turns nothing", async ({ expect }) => {
    const scene = sceneOf(() => Promise.reject(failing("unreachable")));
    expect(await request(scene)).toMatchObject({ error: { data: { reason: "unreachable" } } });
    expect(scene.made).toHaveLength(1);
  });

  test("of watching is told as it is", async ({ expect }) => {
    const scene = sceneOf(() => Promise.reject(failing("unreachable")));
    expect(await failureOf(scene.either.watched(undefined))).toMatchObject({
      failure: "unreachable",
    });
    expect(scene.made).toHaveLength(1);
  });

  test("of a request that was cancelled is its reason", async ({ expect }) => {
    const cancelled = new Error("cancelled");
    for (const failAt of ["legacy", "modern"] as const) {
      const controller = new AbortController();
      const scene = sceneOf((era) => {
        if (era !== failAt) return Promise.reject(failing("other-era"));
        controller.abort(cancelled);
        return Promise.reject(cancelled);
      });
      const reply = scene.either.request(CALL, PEER, controller.signal);
      expect(await failureOf(reply)).toBe(cancelled);
    }
  });
});

test("everything else goes to the server as it is now", async ({ expect }) => {
  const scene = sceneOf(modernOnly);
  await request(scene);
  const { either } = scene;
  await either.answer("t", replyOf("client"));
  await either.notify(CALL);
  await either.receive({ slug: "docs" });
  await either.forgotten({ slug: "docs" });
  await either.close();
  either.unlisten();
  expect(await either.resume("t", PEER, never)).toEqual(replyOf("modern"));
  expect(scene.made[1]?.told).toEqual([
    ...["tools/call", "answer", "notify", "receive", "forgotten", "close"],
    ...["unlisten", "resume"],
  ]);
});

test("a request runs once, however often the server changes its era meanwhile", async ({
  expect,
}) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom<Era>("legacy", "modern"), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 6 }),
      fc.scheduler(),
      async (eras, count, scheduler) => {
        const ran = new Map<string, number>();
        let visits = 0;
        const scene = sceneOf(async (era, what) => {
          await scheduler.schedule(Promise.resolve());
          const speaks = eras[visits++ % eras.length];
          if (speaks !== era) throw failing("other-era");
          ran.set(what, (ran.get(what) ?? 0) + 1);
        });
        const replies = Array.from({ length: count }, (_, n) =>
          scene.either.request({ method: `call ${n}` }, PEER, never),
        );
        await scheduler.waitFor(Promise.all(replies));
        for (const [n, pending] of replies.entries()) {
          const reply = await pending;
          expect(ran.get(`call ${n}`) ?? 0).toBe("result" in reply ? 1 : 0);
        }
      },
    ),
    { numRuns: 60 },
  );
});
