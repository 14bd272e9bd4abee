/** Questions of servers, and the legacy clients that they are put to. */

import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import type { LegacyRevision } from "../../../../src/protocol/revisions.ts";
import { askLegacyClient } from "../../../../src/protocol/revisions/ask-legacy-client.ts";
import type { Askable } from "../../../../src/protocol/revisions/client-abilities.ts";

export const ABLE = {
  roots: { listChanged: true },
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
};

export function ask(
  method: string,
  params: JsonObject | undefined,
  revision: LegacyRevision,
  capabilities: JsonObject = ABLE,
): Askable {
  const call = params === undefined ? { method } : { method, params };
  return askLegacyClient(call, { revision, capabilities }, () => "made-id");
}

/** The params as they are asked, or what the client lacks. */
export function translated(asked: Askable): unknown {
  return asked.kind === "ask" ? asked.call.params : asked.lacking;
}

export const elicit = (...asked: [JsonObject, LegacyRevision, JsonObject?]): unknown =>
  translated(ask("elicitation/create", ...asked));
export const sample = (...asked: [JsonObject, LegacyRevision, JsonObject?]): unknown =>
  translated(ask("sampling/createMessage", ...asked));

const schema = { type: "object", properties: { n: { type: "number", default: 1 } } };
export const form = { mode: "form", message: "?", requestedSchema: schema };
export const formless = { message: "?", requestedSchema: schema };
export const page = { mode: "url", message: "?", url: "https://x.test/" };
export const text = { type: "text", text: "t" };
export const message = (content: unknown): JsonObject => ({
  role: "user",
  content,
  _meta: { own: 1 },
});
export const plain = { messages: [message(text)], maxTokens: 9, metadata: { a: 1 } };

export const BEFORE_MODES = ["2024-11-05", "2025-03-26", "2025-06-18"] as const;
export const UNDECLARED = "requests of this kind";
