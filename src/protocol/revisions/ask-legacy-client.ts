/**
 * Translates the question of a server of either era for a legacy client's revision. Some questions
 * have no translation: then the server's call fails with the reason, because the gateway must not
 * invent an answer.
 */

import type { Call } from "../exchange.ts";
import type { Params } from "../message-members.ts";
import type { LegacyRevision } from "../revisions.ts";
import { type DeclaringClient, legacyClientToModernServer } from "./translate-capabilities.ts";
import {
  type Askable,
  asks,
  canDo,
  hasTools,
  lackingFor,
  lacks,
  modeOf,
} from "./client-abilities.ts";
import { withoutEnvelope, withoutEnvelopeAndTasks, withoutProgressToken } from "./reserved-meta.ts";
import { isObject, type JsonObject } from "../json-rpc.ts";
import { mapMember } from "./map-member.ts";
import { wrapValue } from "./output.ts";
import { toLegacyTool } from "./tool.ts";

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
  if (hasSeveralChoices(requestedSchema)) return lacks("elicitation of several choices");
  return asks({ method, params: { ...rest, requestedSchema: plainForm(requestedSchema) } });
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

/** True for a form with a field of several choices, which 2025-06-18 does not have. */
function hasSeveralChoices(form: unknown): boolean {
  const { properties } = isObject(form) ? form : {};
  if (!isObject(properties)) return false;
  return Object.values(properties).some((field) => isObject(field) && field["type"] === "array");
}

/** Translates the form of an elicitation to 2025-06-18. */
function plainForm(form: unknown): unknown {
  const { properties } = isObject(form) ? form : {};
  if (!isObject(form) || !isObject(properties)) return form;
  const plain = Object.entries(properties).map(([name, field]) => [name, plainField(field)]);
  return { ...form, properties: Object.fromEntries(plain) as JsonObject };
}

/** 2025-06-18 has choices with titles as two lists: `enum` and `enumNames`. */
function plainField(field: unknown): unknown {
  if (!isObject(field)) return field;
  const { oneOf, ...rest } = field;
  const choices: readonly unknown[] = Array.isArray(oneOf) ? oneOf : [];
  if (choices.length === 0 || !choices.every(isChoice)) return field;
  return {
    ...rest,
    enum: choices.map((choice) => choice["const"]),
    enumNames: choices.map((choice) => choice["title"] ?? choice["const"]),
  };
}

function isChoice(choice: unknown): choice is JsonObject {
  return isObject(choice) && typeof choice["const"] === "string";
}

/**
 * Translates messages for clients before 2025-11-25, where a message has one part: a message of several
 * parts becomes several messages of the same role.
 *
 * @returns `undefined` for messages that these clients cannot receive.
 */
function plainMessages(
  messages: unknown,
  revision: LegacyRevision,
): readonly JsonObject[] | undefined {
  if (!Array.isArray(messages)) return undefined;
  const plain: JsonObject[] = [];
  for (const message of messages as unknown[]) {
    if (!isObject(message)) return undefined;
    const { content } = message;
    const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
    if (!parts.every((part) => isPlain(part, revision))) return undefined;
    for (const part of parts) plain.push({ ...message, content: part });
  }
  return plain;
}

function isPlain(part: unknown, revision: LegacyRevision): boolean {
  const type = isObject(part) ? part["type"] : undefined;
  return type === "text" || type === "image" || (type === "audio" && revision >= "2025-03-26");
}

/** For 2025-11-25, where tool output is an object, also in messages about earlier calls. */
function withObjectOutputs(params: Params): Params {
  const reader = { revision: "2025-11-25", era: "modern", hasTasks: true } as const;
  const plain = mapMember(params, "tools", (tool) => toLegacyTool(tool, reader));
  return mapMember(plain, "messages", ({ content, ...message }) => ({
    ...message,
    content: Array.isArray(content) ? content.map(withObjectOutput) : withObjectOutput(content),
  }));
}

function withObjectOutput(part: unknown): unknown {
  if (!isObject(part) || part["type"] !== "tool_result") return part;
  const { structuredContent } = part;
  const isPlain = structuredContent === undefined || isObject(structuredContent);
  return isPlain ? part : { ...part, structuredContent: wrapValue(structuredContent) };
}
