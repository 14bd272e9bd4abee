/**
 * A server at which the caller has no account: it lists one tool, by which a person learns how to connect
 * one. An absent server would be invisible, and could not be connected.
 */

import { labelOf } from "../../accounts/settings.ts";
import { CONNECT_TOOLS } from "../../endpoint/personal-endpoint.ts";
import type { Server } from "../../endpoint/server.ts";
import { OPEN_POLICY } from "../../policy/item-policy.ts";
import type { Catalog } from "../catalog.ts";

export interface Unconnected {
  /** As it is listed: no policy of the operator's hides the one tool. */
  readonly server: Server;
  readonly catalog: Catalog;
}

/** Derived values are kept by catalog object, so each server has one. */
const made = new WeakMap<Server, Unconnected>();

export function unconnected(server: Server): Unconnected {
  let known = made.get(server);
  if (known === undefined) {
    known = describe(server, server.connectTool ?? CONNECT_TOOLS.prefixed);
    made.set(server, known);
  }
  return known;
}

function describe(server: Server, name: string): Unconnected {
  const label = labelOf(server);
  const tool = {
    name,
    title: `Connect ${label}`,
    description: `Connect your account at ${label}. Until then, ${label} has no other tools here. The answer has a link that the user has to open in a browser.`,
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    annotations: { title: `Connect ${label}`, readOnlyHint: true, openWorldHint: true },
  };
  const catalog: Catalog = {
    version: `unconnected ${name} ${label}`,
    era: "modern",
    about: {
      // Clients read capabilities once, and the account may come with any list.
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      },
      serverInfo: undefined,
      instructions: `No account is connected yet: the tool ${name} connects one.`,
    },
    lists: {
      tools: [{ name, text: JSON.stringify(tool) }],
      resources: [],
      templates: [],
      prompts: [],
    },
    flaws: [],
    faults: [],
    isPublic: false,
  };
  const open = { tools: OPEN_POLICY, prompts: OPEN_POLICY, resources: OPEN_POLICY };
  return { server: { ...server, ...open }, catalog };
}
