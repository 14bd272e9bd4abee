/** Calls through the guard of one server, with a clock that the test plays and what became known. */

import { vi } from "vitest";

import type { Trouble } from "../../../../src/catalog/catalog.ts";
import { guarded } from "../../../../src/dispatch/guard/guarded.ts";
import { clientKind } from "../../../../src/endpoint/client-kind.ts";
import type { Endpoint } from "../../../../src/endpoint/endpoint.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import type { CallSink } from "../../../../src/observability/call-record.ts";
import { defaultLimits, type Limits } from "../../../../src/policy/limits.ts";
import type { CallSpan } from "../../../../src/protocol/call-span.ts";
import type { Call } from "../../../../src/protocol/exchange.ts";
import { isObject, type JsonObject, type Reply } from "../../../../src/protocol/json-rpc.ts";
import { ownError } from "../../../../src/protocol/own-error.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

const CLIENT = clientKind("2026-07-28", {});

export const OK: Reply = { result: { content: [{ type: "text", text: "done" }] } };
export const TOOL: Call = { method: "tools/call", params: { name: "work", arguments: {} } };
export const MODERN_TOOL: Call = {
  ...TOOL,
  params: { ...TOOL.params, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
};
export const READ: Call = { method: "resources/read", params: { uri: "a://b" } };

export const DEAD: Reply = ownError(-32603, "gone", { upstream: "s", reason: "unreachable" });

export interface GuardScene {
  /** Milliseconds since 1970. */
  now: number;
  readonly server: Server;
  /** The states that were reported to the feed of the server. */
  readonly reports: (Trouble | undefined)[];
  readonly waiting: Promise<unknown>[];
  /** The number of requests that reached the server. */
  asked: number;
  /** The feed cannot be reached. */
  isFeedGone: boolean;
  span: CallSpan | undefined;
  sinks: readonly CallSink[] | undefined;
  readonly call: (
    reply: Reply | (() => Promise<Reply>),
    call?: Call,
    principal?: string,
  ) => Promise<Reply>;
}

export function guardScene(
  limits: Partial<Limits> = {},
  options: Partial<Server> & { isMerged?: boolean } = {},
): GuardScene {
  const { isMerged = true, ...server } = options;
  const endpoint: Endpoint = {
    ...{ servers: [fakeServer("s", server)], isMerged, keepsNames: false },
  };
  const scene: GuardScene = {
    ...{ now: 1_000_000, server: endpoint.servers[0], reports: [], waiting: [], asked: 0 },
    ...{ isFeedGone: false, span: undefined, sinks: undefined },
    call: (reply, call = TOOL, principal = "ann") =>
      guarded(
        {
          ...{ endpoint, principal, limits: { ...defaultLimits(), ...limits } },
          sinks: scene.sinks,
          waitUntil: (promise) => void scene.waiting.push(promise),
          feeds: {
            of: () => {
              if (scene.isFeedGone) throw new Error("the object is gone");
              return {
                catalog: () => Promise.reject(new Error("not asked for")),
                watch: () => Promise.reject(new Error("not asked for")),
                health: () => Promise.reject(new Error("not asked for")),
                outdated: () => Promise.reject(new Error("not asked for")),
                announce: () => Promise.reject(new Error("not asked for")),
                look: () => Promise.reject(new Error("not asked for")),
                describe: () => Promise.reject(new Error("not asked for")),

                resources: () => Promise.resolve(undefined),
                report: async (trouble) => void scene.reports.push(trouble),
              };
            },
          },
        },
        { server: scene.server, call, client: CLIENT, span: scene.span },
        async () => {
          scene.asked += 1;
          return typeof reply === "function" ? reply() : reply;
        },
        () => scene.now,
      ),
  };
  return scene;
}

/** A request that is on its way until the test ends it. */
export function pending(): { readonly run: () => Promise<Reply>; end: (reply: Reply) => void } {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  return { run: () => promise, end: resolve };
}

/** The lines of calls that were logged while something was done. */
export async function linesOf(act: () => Promise<unknown>): Promise<readonly JsonObject[]> {
  const spy = vi.spyOn(console, "log").mockImplementation(() => undefined);
  try {
    await act();
    const lines = spy.mock.calls.map(([line]): unknown => JSON.parse(String(line)));
    return lines.filter(isObject).filter(({ event }) => event === "call");
  } finally {
    spy.mockRestore();
  }
}
