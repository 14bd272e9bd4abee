/**
 * Translates the question of a server of either era for a legacy client's revision. Some questions
 * have no translation: then the server's call fails with the reason, because the gateway must not
 * invent an answer.
 */

import type { Call } from "../exchange.ts";
import type { Params } from "../wire.ts";
import type { LegacyRevision } from "../revisions.ts";
import { type Askable, asks, lacks } from "./askable.ts";
import { type DeclaringClient, legacyClientToModernServer } from "./translate-capabilities.ts";
import { canDo, hasTools, lackingFor, modeOf } from "./client-abilities.ts";
import { plainForm } from "./plain-form.ts";
import { withoutEnvelope, withoutEnvelopeAndTasks, withoutProgressToken } from "./reserved-meta.ts";
import { plainMessages, withObjectOutputs } from "./sampling.ts";

/**
 * Translates the question of a modern server, which asks in a result: it cannot receive progress or a
 * task, and a client cannot refuse the question itself. So the client's declared capabilities are
 * checked here.
 *
 * @param makeId makes the id that 2025-11-25 requires of an elicitation by URL.
 */
export function askLegacyClient(
  { method, params = {} }: Call,
  client: DeclaringClient,
  makeId: () => string,
): Askable {
  const { task: _, ...asked } = withoutProgressToken(withoutEnvelopeAndTasks(params));
  const declared = legacyClientToModernServer(client);
  const lacking = lackingFor({ method, params: asked }, declared);
  if (lacking !== undefined) return lacks(lacking);
  // 2025-11-25 deprecates context and has it declared; every client of an earlier revision knows it.
  const hasContext = client.revision < "2025-11-25" || canDo(declared, "sampling.context");
  const known = hasContext ? asked : withoutContext(asked);
  return rephrase({ method, params: known }, client.revision, makeId);
}

/** Translates a question to a revision, regardless of the client's capabilities. */
export function rephrase(
  { method, params }: Call,
  revision: LegacyRevision,
  makeId: () => string,
): Askable {
  if (params === undefined) return asks({ method });
  const asked = withoutEnvelope(params);
  switch (method) {
    case "elicitation/create":
      return rephraseElicitation(asked, revision, makeId);
    case "sampling/createMessage":
      return rephraseSampling(asked, revision);
    default:
      return asks({ method, params: asked });
  }
}

function rephraseElicitation(
  params: Params,
  revision: LegacyRevision,
  makeId: () => string,
): Askable {
  const method = "elicitation/create";
  const mode = modeOf(params);
  if (revision >= "2025-11-25") {
    const needsId = mode === "url" && params["elicitationId"] === undefined;
    return asks({ method, params: needsId ? { ...params, elicitationId: makeId() } : params });
  }
  if (mode === "url") return lacks("elicitation by URL");
  if (mode !== "form") return lacks("elicitation of such a mode");
  const { mode: _, task: __, requestedSchema, ...rest } = params;
  const form = plainForm(requestedSchema);
  return form.kind === "form"
    ? asks({ method, params: { ...rest, requestedSchema: form.schema } })
    : lacks("elicitation of several choices");
}

function rephraseSampling(params: Params, revision: LegacyRevision): Askable {
  const method = "sampling/createMessage";
  if (revision >= "2025-11-25") return asks({ method, params: withObjectOutputs(params) });
  if (hasTools(params)) return lacks("sampling with tools");
  const { task: _, ...rest } = params;
  const messages = plainMessages(rest["messages"], revision);
  return messages === undefined
    ? lacks("sampling of such content")
    : asks({ method, params: { ...rest, messages } });
}

/** Without `includeContext` no context is included (2025-11-25, sampling). */
function withoutContext(params: Params): Params {
  const { includeContext, ...rest } = params;
  return includeContext === "none" ? params : rest;
}
