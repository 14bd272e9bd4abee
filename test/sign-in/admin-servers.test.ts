/** The servers on `/admin`: how each is, from what is known, for administrators alone. */

// Has an isolate of its own: it names all servers, and how they are.
import { env } from "cloudflare:workers";
import { beforeAll, describe, test } from "vitest";

import { feedsIn } from "../../durable-objects/ports.ts";
import { PATHS } from "../../src/pages/view/paths.ts";
import { always } from "../integration/merged-session.ts";
import { Upstream } from "../integration/upstream.ts";
import { Visitor } from "./visitor.ts";

const MINUTE = 60_000;
const LEGACY = { revision: "2025-06-18", capabilities: {} } as const;
const feeds = feedsIn(env);

let root: Visitor;

beforeAll(async () => {
  root = await Visitor.arrive({ isAdmin: true });
});

describe("the list of servers", () => {
  test("shows all of them without a request to any", async ({ expect }) => {
    const beta = Upstream.named("beta");
    const asked = (await beta.log()).length;
    const { text } = await root.visit(PATHS.admin);
    expect(text).toContain("2 unknown");
    expect(text.indexOf("alpha")).toBeLessThan(text.indexOf("beta"));
    expect(await beta.log()).toHaveLength(asked);
  });

  test("shows failing servers first, with the reason and the time", async ({ expect }) => {
    await feeds.of("beta").catalog({ client: LEGACY, waitMs: 5000 });
    const message = 'Upstream "alpha" cannot be reached';
    const since = Date.now() - 3 * MINUTE;
    await feeds.of("alpha").report({ reason: "unreachable", message, since });
    const { text, html } = await root.visit(PATHS.admin);
    expect(text).toContain("1 healthy, 1 down");
    expect(text).toMatch(/alpha Down .*cannot be reached \(began 3 minutes ago\)/s);
    expect(text).toContain("beta Healthy Offers nothing · seen just now");
    expect(html).toContain('<a href="#server-alpha">');
    expect(html).not.toContain('<a href="#server-beta">');
    await feeds.of("alpha").report(undefined);
    expect((await root.visit(PATHS.admin)).text).toContain("1 healthy, 1 unknown");
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
