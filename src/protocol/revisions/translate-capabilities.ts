/**
 * Translates capabilities between the eras. Only known ones cross: the gateway must honour what it
 * advertises, and cannot know what another capability requires. Tasks differ between the eras, and
 * neither kind crosses.
 */

import { toOtherEra } from "../capabilities.ts";
import { isObject, type JsonObject } from "../json-rpc.ts";
import type { LegacyRevision } from "../revisions.ts";
import { canDo } from "./client-abilities.ts";

/** A legacy client's revision and capabilities, from `initialize`. */
export interface DeclaringClient {
  readonly revision: LegacyRevision;
  readonly capabilities: JsonObject;
}

const OF_SERVERS = [
  ...["tools", "prompts", "resources", "completions", "logging", "extensions"],
] as const;

/** Translates a modern server's capabilities for a legacy client of this revision. */
export function modernServerToLegacyClient(
  capabilities: JsonObject,
  revision: LegacyRevision,
): JsonObject {
  const { completions, ...rest } = knownOfServers(capabilities);
  // 2024-11-05 has the method, but no capability for it.
  return revision === "2024-11-05" || completions === undefined ? rest : { ...rest, completions };
}

/**
 * Translates a legacy server's capabilities for a modern client.
 *
 * @param isWatched true when the gateway learns of the server's changes; else none are promised.
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

/** A capability must be an object, but some servers send `true`. */
function knownOfServers(capabilities: JsonObject): JsonObject {
  const routed = toOtherEra(capabilities);
  const known = OF_SERVERS.flatMap((name) => {
    const value = routed[name] === true ? {} : routed[name];
    return isObject(value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(known);
}

/**
 * Translates a legacy client's capabilities for each request to a modern server, without those that
 * the client's revision does not have.
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

/** Translates a modern client's capabilities for a whole session at a legacy server. */
export function modernClientToLegacyServer(capabilities: JsonObject): JsonObject {
  return legacyClientToModernServer({ revision: "2025-11-25", capabilities });
}

const SAMPLING = ["sampling.tools", "sampling.context"] as const;
const ELICITATION = ["elicitation.form", "elicitation.url"] as const;

/** The members of a part are kept: they are the client's, and have the same meaning in both eras. */
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
