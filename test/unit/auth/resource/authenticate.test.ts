/**
 * The look-ups of a token: how often they happen, how long a result is cached, and the effect of a
 * failure.
 */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { authenticate, type ResourceContext } from "../../../../src/auth/resource/bearer.ts";
import { protectedResources } from "../../../../src/auth/resources.ts";
import type { Authority } from "../../../../src/auth/oauth/engine/authority.ts";
import type { AuthStore } from "../../../../src/auth/context/auth-store.ts";
import type { Bearer } from "../../../../src/auth/oauth/grants/bearers.ts";
import { defaultLimits } from "../../../../src/policy/limits.ts";

const ORIGIN = "https://gw.example";

/** A gateway whose records a test plays. */
class Scene {
  readonly token = `u_x:${"g".repeat(16)}:${crypto.randomUUID().replaceAll("-", "")}`;
  readonly asked: string[] = [];
  answer: () => Bearer | undefined = () => this.bearer();
  readonly #slugs: readonly string[];
  readonly #cacheSeconds: number;

  constructor(options: { slugs?: readonly string[]; cacheSeconds?: number } = {}) {
    this.#slugs = options.slugs ?? ["alpha", "beta"];
    this.#cacheSeconds = options.cacheSeconds ?? 5;
  }

  bearer(more: Partial<Bearer> = {}): Bearer {
    const expiresAt = Date.now() + 3_600_000;
    return {
      user: "u_x",
      client: "c",
      scopes: ["mcp"],
      expiresAt,
      lease: "g",
      isAdmin: false,
      ...more,
    };
  }

  async ask(path = "/mcp", token = this.token) {
    const check = (_origin: string, resource: string): Promise<Bearer | undefined> => {
      this.asked.push(resource);
      return Promise.resolve().then(() => this.answer());
    };
    const shard = { bearers: { check } };
    const context: ResourceContext = {
      origin: ORIGIN,
      authority: { resources: protectedResources(ORIGIN, this.#slugs) } as unknown as Authority,
      store: { ofUser: () => shard, shard: () => shard } as unknown as AuthStore,
      limits: { ...defaultLimits(), bearerCacheSeconds: this.#cacheSeconds },
      trace: () => "",
    };
    const headers = { Authorization: `Bearer ${token}` };
    return authenticate(context, new Request(ORIGIN + path, { headers }), path);
  }

  /** @returns the status of the refusal, or "caller". */
  async outcome(path?: string, token?: string): Promise<unknown> {
    const answer = await this.ask(path, token);
    return answer.kind === "caller" ? "caller" : answer.response.status;
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a good token", () => {
  test("is cached for as long as the limit allows, at the one endpoint", async ({ expect }) => {
    const scene = new Scene();
    expect([await scene.outcome(), await scene.outcome("/sse")]).toEqual(["caller", "caller"]);
    vi.setSystemTime(Date.now() + 4999);
    await scene.outcome();
    expect(scene.asked).toEqual([`${ORIGIN}/mcp`]);
    await scene.outcome("/mcp/alpha");
    expect(scene.asked).toEqual([`${ORIGIN}/mcp`, `${ORIGIN}/mcp/alpha`]);
    vi.setSystemTime(Date.now() + 1);
    scene.answer = () => undefined;
    expect(await scene.outcome()).toBe(401);
  });

  test("is never believed beyond its expiry", async ({ expect }) => {
    const scene = new Scene();
    const expiresAt = Date.now() + 1000;
    scene.answer = () => scene.bearer({ expiresAt });
    expect(await scene.outcome()).toBe("caller");
    vi.setSystemTime(expiresAt - 1);
    expect(await scene.outcome()).toBe("caller");
    vi.setSystemTime(expiresAt);
    expect(await scene.outcome()).toBe(401);
  });

  test("is asked about each time when the limit is 0", async ({ expect }) => {
    const scene = new Scene({ cacheSeconds: 0 });
    await scene.outcome();
    await scene.outcome();
    expect(scene.asked).toHaveLength(2);
  });

  test("stands for its user and application, and for no other", async ({ expect }) => {
    const principals = new Set<string>();
    for (const of of [
      {},
      { client: "d" },
      { user: "u_y" },
      { scopes: ["mcp", "x"] },
      { lease: "h" },
    ]) {
      const scene = new Scene();
      scene.answer = () => scene.bearer(of);
      const answer = await scene.ask();
      if (answer.kind === "caller") principals.add(answer.caller.principal);
    }
    expect([...principals]).toEqual([
      expect.stringMatching(/^u_x\.[A-Za-z0-9_-]{16}$/),
      expect.stringMatching(/^u_x\.[A-Za-z0-9_-]{16}$/),
      expect.stringMatching(/^u_y\.[A-Za-z0-9_-]{16}$/),
    ]);
  });
});

describe("a bad token", () => {
  test("is asked about each time: it may be good in a moment", async ({ expect }) => {
    const scene = new Scene();
    scene.answer = () => undefined;
    expect([await scene.outcome(), await scene.outcome()]).toEqual([401, 401]);
    scene.answer = () => scene.bearer();
    expect(await scene.outcome()).toBe("caller");
  });

  test("without our shape is not asked about at all", async ({ expect }) => {
    const scene = new Scene();
    for (const token of ["x", `${scene.token}x`, `edgeway_sk_${"a".repeat(16)}_short`, "a:b:c"]) {
      expect(await scene.outcome("/mcp", token)).toBe(401);
    }
    expect(scene.asked).toEqual([]);
  });
});

describe("an object that fails", () => {
  test("once, for it was restarted, is asked again", async ({ expect }) => {
    const scene = new Scene();
    const answers = [
      () => {
        throw new Error("restarted");
      },
      () => scene.bearer(),
    ];
    scene.answer = () => answers.shift()?.();
    expect(await scene.outcome()).toBe("caller");
  });

  test("is no reason to throw a token away: 503", async ({ expect }) => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const scene = new Scene();
    scene.answer = () => {
      throw new Error("out of order");
    };
    expect([await scene.outcome(), scene.asked.length]).toEqual([503, 2]);
    expect(JSON.stringify(logged.mock.calls)).not.toContain(scene.token);
  });
});

describe("the scope of everything", () => {
  test("may be that of the one server, where there is one", async ({ expect }) => {
    for (const [slugs, outcome] of [
      [["alpha"], "caller"],
      [["alpha", "beta"], 403],
    ] as const) {
      const scene = new Scene({ slugs });
      scene.answer = () => scene.bearer({ scopes: ["mcp:alpha"] });
      expect(await scene.outcome()).toBe(outcome);
    }
  });

  test("opens no pages of the operator's", async ({ expect }) => {
    const scene = new Scene();
    expect(await scene.outcome("/admin")).toBe(403);
    scene.answer = () => scene.bearer({ scopes: ["admin"] });
    expect(await scene.outcome("/admin", `${scene.token.slice(0, -1)}x`)).toBe("caller");
  });
});
