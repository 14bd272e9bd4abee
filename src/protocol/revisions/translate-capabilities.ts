/**
 * Capabilities that cross from one era to the other. Only what is known here does: what is
 * advertised is owed, and of anything else nobody knows what that would be. Tasks are two things in
 * the two eras, and neither crosses.
 */

import { toOtherEra } from "../capabilities.ts";
import { isObject, type JsonObject } from "../json-rpc.ts";
import type { LegacyRevision } from "../revisions.ts";
import { canDo } from "./client-abilities.ts";

/** A legacy client as `initialize` found it. */
export interface DeclaringClient {
  readonly revision: LegacyRevision;
  readonly capabilities: JsonObject;
}

const OF_SERVERS = [
  ...["tools", "prompts", "resources", "completions", "logging", "extensions"],
] as const;

/** A modern server's, as a legacy client of this revision may see them. */
export function modernServerToLegacyClient(
  capabilities: JsonObject,
  revision: LegacyRevision,
): JsonObject {
  const { completions, ...rest } = knownOfServers(capabilities);
  // The method is older than the word for it.
  return revision === "2024-11-05" || completions === undefined ? rest : { ...rest, completions };
}

/**
 * A legacy server's, as a modern client may see them.
 *
 * @param isWatched changes of the server come to be known here; else none is promised.
 */
export function legacyServerToModernClient(
  capabilities: JsonObject,
  isWatched: boolean,
): JsonObject {
  const known = knownOfServers(capabilities);
  if (isWatched) return known;
  const quiet = Object.entries(known).map(([name, value]) => [name, withoutChanges(value)]);
  return Object.fromEntries(quiet) as JsonObject;
}

function withoutChanges(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { listChanged: _, subscribe: __, ...rest } = value;
  return rest;
}

/** An object, by the letter; some servers say `true`. */
function knownOfServers(capabilities: JsonObject): JsonObject {
  const routed = toOtherEra(capabilities);
  const known = OF_SERVERS.flatMap((name) => {
    const value = routed[name] === true ? {} : routed[name];
    return isObject(value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(known);
}

/**
 * A legacy client's, as they are declared to a modern server with each request: what the client can
 * be asked, and nothing that cannot be put to it in its revision.
 */
export function legacyClientToModernServer({
  revision,
  capabilities,
}: DeclaringClient): JsonObject {
  const { elicitation, sampling, roots, extensions } = toOtherEra(capabilities);
  const hasModes = revision >= "2025-11-25";
  return {
    ...(isObject(roots) ? { roots: {} } : {}),
    ...(isObject(sampling) ? { sampling: hasModes ? partsOf(capabilities, SAMPLING) : {} } : {}),
    ...(isObject(elicitation) && revision >= "2025-06-18"
      ? { elicitation: hasModes ? partsOf(capabilities, ELICITATION) : { form: {} } }
      : {}),
    ...(extensions === undefined ? {} : { extensions }),
  };
}

/** A modern client's, as they are declared to a legacy server for a whole session. */
export function modernClientToLegacyServer(capabilities: JsonObject): JsonObject {
  return legacyClientToModernServer({ revision: "2025-11-25", capabilities });
}

const SAMPLING = ["sampling.tools", "sampling.context"] as const;
const ELICITATION = ["elicitation.form", "elicitation.url"] as const;

/** What else is said of a part is kept: it is the client's own, and means the same in both eras. */
function partsOf(
  capabilities: JsonObject,
  abilities: typeof SAMPLING | typeof ELICITATION,
): JsonObject {
  const parts = abilities
    .filter((ability) => canDo(capabilities, ability))
    .map((ability) => {
      const [name = "", part = ""] = ability.split(".");
      const declared = capabilities[name];
      const said = isObject(declared) ? declared[part] : undefined;
      return [part, isObject(said) ? said : {}] as const;
    });
  return Object.fromEntries(parts);
}
