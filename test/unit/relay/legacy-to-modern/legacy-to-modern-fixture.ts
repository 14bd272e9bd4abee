/** A modern server behind the bridge, which gives the answers of a test, one by one. */

import type {
  ServerInSession,
  ServerInSessionOptions,
} from "../../../../src/relay/server-in-session.ts";
import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { serverInSession } from "../session-server-fixture.ts";
import {
  type Answer,
  bodyOf,
  bytesOf,
  fakeTarget,
  json,
  type Seen,
} from "../../upstream/fake-target.ts";

export const REVISION_KEY = "io.modelcontextprotocol/protocolVersion";
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
export const LEVEL_KEY = "io.modelcontextprotocol/logLevel";

export const CLIENT = {
  revision: "2025-11-25",
  capabilities: {
    roots: { listChanged: true },
    sampling: {},
    elicitation: { form: {}, url: {} },
    tasks: {},
  },
  clientInfo: { name: "c", version: "1" },
} as const;

export const never = new AbortController().signal;
export const CALL = { method: "tools/call", params: { name: "work", arguments: { n: 1 } } };
export const DONE = { content: [{ type: "text", text: "done" }] };
export const FORM = { message: "?", requestedSchema: { type: "object", properties: {} } };
export const ELICIT = { method: "elicitation/create", params: FORM };
export const ACCEPTED = { action: "accept", content: { n: 1 } };

export interface World {
  readonly server: ServerInSession;
  /** What the server was sent. */
  readonly sent: readonly Seen[];
  /** Log levels that were saved. */
  readonly saved: readonly string[];
}

/**
 * @param answers of the server, in order; the last one meets all that follow.
 * @param savedLogLevel the level that the client had set before a restart.
 */
export function behind(
  answers: readonly Answer[],
  {
    savedLogLevel,
    ...options
  }: Partial<ServerInSessionOptions> & { readonly savedLogLevel?: string } = {},
): World {
  const sent: Seen[] = [];
  const saved: string[] = [];
  const answerNext: Answer = (seen) => {
    sent.push(seen);
    const answer = answers[Math.min(sent.length, answers.length) - 1];
    if (answer === undefined) throw new Error("the test has no answer");
    return answer(seen);
  };
  const server = serverInSession({
    target: fakeTarget(answerNext),
    client: CLIENT,
    saved: { era: "modern", ...(savedLogLevel === undefined ? {} : { logLevel: savedLogLevel }) },
    save: ({ logLevel }) => void (logLevel !== undefined && saved.push(logLevel)),
    ...options,
  });
  return { server, sent, saved };
}

export function completing(result: JsonObject = DONE): Answer {
  return ({ body }) =>
    json({ jsonrpc: "2.0", id: body["id"], result: { resultType: "complete", ...result } });
}

export function requiring(required: JsonObject): Answer {
  return completing({ ...required, resultType: "input_required" });
}

export function asking(inputRequests: JsonObject, requestState?: unknown): Answer {
  return requiring(
    requestState === undefined ? { inputRequests } : { inputRequests, requestState },
  );
}

/** @param status of an HTTP refusal. */
export function failing(error: JsonObject, status = 200): Answer {
  return ({ body }) => json({ jsonrpc: "2.0", id: body["id"], error }, { status });
}

/** Sends a notification before it answers. */
export function saying(...notices: readonly JsonObject[]): Answer {
  return ({ body }) => {
    const answer = { id: body["id"], result: { resultType: "complete", ...DONE } };
    const events = [...notices, answer].map((message) =>
      bytesOf(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`),
    );
    return new Response(bodyOf(events), { headers: { "Content-Type": "text/event-stream" } });
  };
}

/** Never answers; it notices when the gateway hangs up. */
export function hanging(onCancel: () => void): Answer {
  return ({ signal }) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener("abort", () => {
        onCancel();
        reject(signal.reason as Error);
      });
    });
}

/** The params of a request, and what is in their `_meta`. */
export function paramsOf(seen: Seen | undefined): JsonObject {
  return (seen?.body["params"] ?? {}) as JsonObject;
}

export function metaIn(seen: Seen | undefined): JsonObject {
  return (paramsOf(seen)["_meta"] ?? {}) as JsonObject;
}
