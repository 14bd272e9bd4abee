/**
 * Translates a legacy server's question for a result that asks a modern client for input. The forms
 * and messages of every legacy revision are valid in 2026-07-28; only the members that belong to a
 * separate request are removed.
 */

import type { Call } from "../exchange.ts";
import { dataOf, type ErrorObject, isObject, type JsonObject } from "../json-rpc.ts";
import type { Params } from "../message-members.ts";
import { type Askable, asks, canDo, lackingFor, lacks } from "./client-abilities.ts";
import { URL_ELICITATION_REQUIRED } from "./errors.ts";
import { mapMember } from "./map-member.ts";
import { withoutEnvelopeAndTasks, withoutProgressToken } from "./reserved-meta.ts";
import { toModernTool } from "./tool.ts";

/** @param capabilities of the client's request that the result answers. */
export function askModernClient(call: Call, capabilities: JsonObject): Askable {
  const lacking = lackingFor(call, capabilities);
  if (lacking !== undefined) return lacks(lacking);
  const { method, params = {} } = call;
  // A question in a result has no progress notifications, and the client cannot answer with a task.
  const { task: _, ...asked } = withoutProgressToken(withoutEnvelopeAndTasks(params));
  switch (method) {
    case "elicitation/create": {
      // The key in the result identifies the answer (2026-07-28, elicitation).
      const { elicitationId: _, ...rest } = asked;
      return asks({ method, params: rest });
    }
    case "sampling/createMessage":
      return asks({ method, params: toModernSampling(asked, capabilities) });
    default:
      return asks({ method, params: asked });
  }
}

function toModernSampling(params: Params, capabilities: JsonObject): Params {
  const asked = mapMember(params, "tools", toModernTool);
  const { includeContext, ...rest } = asked;
  const isAllowed = includeContext === "none" || canDo(capabilities, "sampling.context");
  return isAllowed ? asked : rest;
}

/**
 * The pages that the user must visit before a legacy server serves a request, as questions
 * (2025-11-25, elicitation, -32042).
 *
 * @returns `undefined` for any other error, and for one that names no page.
 */
export function pagesToVisit(error: ErrorObject): readonly Call[] | undefined {
  const { elicitations } = dataOf(error);
  if (error.code !== URL_ELICITATION_REQUIRED || !Array.isArray(elicitations)) return undefined;
  const pages = elicitations
    .filter(isObject)
    .filter(({ url }) => typeof url === "string")
    .map((params) => ({ method: "elicitation/create", params: { ...params, mode: "url" } }));
  return pages.length === 0 ? undefined : pages;
}
