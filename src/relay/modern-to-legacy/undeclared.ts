/**
 * The error for a client that repeats a request with fewer capabilities than when its questions were
 * put together: it lists the capabilities that the questions need.
 */

import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call } from "../../protocol/exchange.ts";
import { errorReply, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { hasTools, modeOf } from "../../protocol/revisions/client-abilities.ts";
import type { Questions } from "./open-questions.ts";

/** The error that names what must be declared (2026-07-28, -32021: MUST list the capabilities). */
export function undeclared(questions: Questions): Reply {
  const requiredCapabilities: Record<string, JsonObject> = {};
  for (const question of Object.values(questions)) {
    for (const [name, parts] of Object.entries(neededBy(question))) {
      requiredCapabilities[name] = { ...requiredCapabilities[name], ...parts };
    }
  }
  const sentence =
    "The questions of this request need capabilities that this client has not declared";
  return errorReply(ErrorCode.MissingRequiredClientCapability, sentence, { requiredCapabilities });
}

function neededBy({ method, params = {} }: Call): Readonly<Record<string, JsonObject>> {
  switch (method) {
    case "elicitation/create":
      return { elicitation: { [String(modeOf(params))]: {} } };
    case "sampling/createMessage":
      return { sampling: hasTools(params) ? { tools: {} } : {} };
    case "roots/list":
      return { roots: {} };
    default:
      return {};
  }
}
