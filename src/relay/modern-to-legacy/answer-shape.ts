/** Checks the shape of a client's answer to a question before it is sent to the server. */

import { isJsonNumber } from "../../lib/lossless-json.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";

const ACTIONS: ReadonlySet<unknown> = new Set(["accept", "decline", "cancel"]);
const ROLES: ReadonlySet<unknown> = new Set(["user", "assistant"]);

/** The answer to a question, as far as it is read here. */
interface QuestionResponse extends JsonObject {
  /** Of an elicitation. */
  readonly action?: unknown;
}

/** @param method of the question. */
export function isAnswerTo(method: string, response: unknown): response is QuestionResponse {
  if (!isObject(response)) return false;
  const { action, content, role, model, roots } = response;
  switch (method) {
    case "elicitation/create":
      return ACTIONS.has(action) && isForm(content);
    case "sampling/createMessage":
      return ROLES.has(role) && typeof model === "string" && isContent(content);
    case "roots/list":
      return isListOf(roots, isRoot);
    default:
      return false;
  }
}

/** The content of the form; only an answer that accepts has one. */
function isForm(content: unknown): boolean {
  if (content === undefined) return true;
  return isObject(content) && Object.values(content).every(isField);
}

function isField(value: unknown): boolean {
  return (
    typeof value === "string" ||
    isJsonNumber(value) ||
    typeof value === "boolean" ||
    isListOf(value, (choice) => typeof choice === "string")
  );
}

/** One block or, from 2025-11-25 on, several. */
function isContent(content: unknown): boolean {
  return isBlock(content) || isListOf(content, isBlock);
}

function isBlock(block: unknown): boolean {
  const { type } = isObject(block) ? block : {};
  return typeof type === "string";
}

function isRoot(root: unknown): boolean {
  const { uri } = isObject(root) ? root : {};
  return typeof uri === "string";
}

function isListOf(value: unknown, isMember: (member: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every((member: unknown) => isMember(member));
}
