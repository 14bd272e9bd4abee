/**
 * A server of 2025-11-25 made one of an older revision: of what the client says it sees no more than
 * its revision knows, and it says nothing that its revision has no word for.
 */

import type { Json } from "./clients-face.ts";
import { LEGACY_REVISIONS, type LegacyRevision } from "./revisions.ts";

const INVALID_PARAMS = -32_602;
const RESOURCE_NOT_FOUND = -32_002;

export class OlderServer {
  readonly newest: LegacyRevision;

  constructor(newest: LegacyRevision) {
    this.newest = newest;
  }

  get supported(): readonly LegacyRevision[] {
    return LEGACY_REVISIONS.filter((revision) => revision <= this.newest).toReversed();
  }

  /** A message of its client's. */
  read(message: unknown): unknown {
    if (!isJson(message) || message["method"] !== "initialize") return message;
    const params = message["params"] as Json;
    const asked = String(params["protocolVersion"]);
    const protocolVersion = asked > this.newest ? this.newest : asked;
    const capabilities = this.#known(params["capabilities"] as Json, protocolVersion);
    return { ...message, params: { ...params, protocolVersion, capabilities } };
  }

  /** What such a server has been written to look for in its clients. */
  #known({ roots, sampling, elicitation, tasks }: Json, revision: string): Json {
    const hasModes = revision >= "2025-11-25";
    return {
      ...(roots === undefined ? {} : { roots }),
      ...(sampling === undefined ? {} : { sampling: hasModes ? sampling : {} }),
      ...(elicitation === undefined || revision < "2025-06-18"
        ? {}
        : { elicitation: hasModes ? elicitation : {} }),
      ...(tasks === undefined || !hasModes ? {} : { tasks }),
    };
  }

  /** A message of the server's. */
  say(message: unknown): unknown {
    if (!isJson(message)) return message;
    const { method, params, result, error } = message;
    if (isJson(result)) return { ...message, result: this.#sayResult(result) };
    if (isJson(error)) return { ...message, error: toTheLetter(error) };
    if (!isJson(params)) return message;
    return { ...message, params: this.#sayParams(String(method), params) };
  }

  #sayResult(result: Json): Json {
    const { capabilities, tools, structuredContent, ...rest } = result;
    const hasOutput = this.newest >= "2025-06-18";
    return {
      ...rest,
      ...(isJson(capabilities) ? { capabilities: this.#offered(capabilities) } : {}),
      ...(Array.isArray(tools) ? { tools: hasOutput ? tools : tools.map(withoutOutput) } : {}),
      ...(structuredContent === undefined || !hasOutput ? {} : { structuredContent }),
    };
  }

  #offered(capabilities: Json): Json {
    const { completions, tasks, ...rest } = capabilities;
    return {
      ...rest,
      ...(completions === undefined || this.newest < "2025-03-26" ? {} : { completions }),
      ...(tasks === undefined || this.newest < "2025-11-25" ? {} : { tasks }),
    };
  }

  #sayParams(method: string, params: Json): Json {
    if (method === "notifications/progress" && this.newest < "2025-03-26") {
      const { message: _, ...rest } = params;
      return rest;
    }
    if (method === "elicitation/create" && this.newest < "2025-11-25") {
      const { mode: _, ...rest } = params;
      return rest;
    }
    return params;
  }
}

function withoutOutput(tool: Json): Json {
  const { outputSchema: _, ...rest } = tool;
  return rest;
}

/** The SDKs say that the params are wrong; every revision of this era has a code of its own for it. */
function toTheLetter(error: Json): Json {
  const { code, data } = error;
  const isNotFound = code === INVALID_PARAMS && isJson(data) && typeof data["uri"] === "string";
  return isNotFound ? { ...error, code: RESOURCE_NOT_FOUND } : error;
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
