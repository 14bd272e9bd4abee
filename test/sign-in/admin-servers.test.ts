/** The servers on `/admin`: how each is, from what is known, for administrators alone. */

// Has an isolate of its own: it names all servers, and how they are.
import { env } from "cloudflare:workers";
import { beforeAll, describe, test } from "vitest";

import { feedsIn } from "../../durable-objects/ports.ts";
import { PATHS } from "../../src/pages/view/paths.ts";
import { always } from "../integration/merged-session.ts";
import { until } from "../integration/bounded.ts";
import { Upstream } from "../integration/upstream.ts";
import { Visitor } from "./visitor.ts";

const MINUTE = 60_000;
const DEAD = { status: 503, isLasting: true } as const;
const LEGACY = { revision: "2025-06-18", capabilities: {} } as const;
const feeds = feedsIn(env);

let root: Visitor;

beforeAll(async () => {
  root = await Visitor.arrive({ isAdmin: true });
});

describe("the list of servers", () => {
  test("shows all of them, and looks at those that nobody has asked yet, once", async ({
    expect,
  }) => {
    const beta = Upstream.named("beta");
    // A page waits for what it looks at only so long.
    await expect.poll(async () => (await root.visit(PATHS.admin)).text).toContain("2 healthy");
    const { text } = await root.visit(PATHS.admin);
    expect(text.indexOf("alpha")).toBeLessThan(text.indexOf("beta"));
    const asked = (await beta.log()).length;
    await root.visit(PATHS.admin);
    expect(await beta.log()).toHaveLength(asked);
  });

  test("shows failing servers first, with the reason and the time", async ({ expect }) => {
    await feeds.of("beta").catalog({ client: LEGACY, waitMs: 5000 });
    const alpha = Upstream.named("alpha");
    await alpha.script({
      server: "dual",
      reactions: { "server/discover": [DEAD], initialize: [DEAD] },
    });
    const message = 'Upstream "alpha" cannot be reached';
    const since = Date.now() - 3 * MINUTE;
    await feeds.of("alpha").report({ reason: "unreachable", message, since });
    const { text, html } = await root.visit(PATHS.admin);
    expect(text).toContain("1 healthy, 1 failing");
    expect(text).toMatch(/alpha Failing .*failing \(HTTP 503\) \(began 3 minutes ago\)/s);
    expect(text).toContain("beta Healthy Offers nothing · seen just now");
    expect(html).toContain('<a href="#server-alpha">');
    expect(html).not.toContain('<a href="#server-beta">');
    await alpha.script({ server: "dual" });
    // A server that has just failed is left alone for a second.
    await until(
      async () => (await root.visit(PATHS.admin)).text.includes("2 healthy") || undefined,
      "the server to be well again",
    );
  });

  test("shows which servers have the same resource, and which one takes precedence", async ({
    expect,
  }) => {
    for (const slug of ["alpha", "beta"]) {
      await Upstream.named(slug).script({
        ...{ server: "legacy", capabilities: { resources: {} } },
        reactions: {
          "resources/list": always({ resources: [{ uri: "tea:<b>menu", name: "menu" }] }),
          "resources/templates/list": always({ resourceTemplates: [] }),
        },
      });
      const client = { revision: "2025-11-25", capabilities: {} } as const;
      await feeds.of(slug).catalog({ client, waitMs: 5000 });
    }
    const { text, html } = await root.visit(PATHS.admin);
    expect(text).toMatch(
      /beta Healthy Conflict 1 resource of upstream .beta. is left out: upstream .alpha., configured earlier, has the same URI: tea:/,
    );
    expect(text).toMatch(/alpha Healthy 1 resource/);
    expect(html).toContain("tea:&lt;b&gt;menu");
  });

  test("is hidden from all other users", async ({ expect }) => {
    const ann = await Visitor.arrive();
    const page = await ann.visit(PATHS.admin);
    expect(page.status).toBe(403);
    expect(page.text).not.toContain("alpha");
  });
});
