/** A server that no request reaches. */

import type { Server } from "../../../src/endpoint/server.ts";
import { OPEN_POLICY } from "../../../src/policy/item-policy.ts";
import { fakeTarget, html } from "../upstream/fake-target.ts";

export function fakeServer(slug: string, options: Partial<Server> = {}): Server {
  return {
    ...{
      slug,
      target: fakeTarget(() => html(500), { slug }),
      prefix: `${slug}__`,
      auth: { kind: "none" },
    },
    ...{ tools: OPEN_POLICY, prompts: OPEN_POLICY, resources: OPEN_POLICY },
    ...options,
  };
}
