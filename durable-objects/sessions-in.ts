/** The `Sessions` port over a Durable Object namespace: a session's id is its object's. */

import type { Sessions } from "../src/downstream/door.ts";
import type { SessionObject } from "./session-object.ts";

export function sessionsIn(namespace: DurableObjectNamespace<SessionObject>): Sessions {
  return {
    create() {
      const id = namespace.newUniqueId();
      return { id: id.toString(), session: namespace.get(id) };
    },
    find(text) {
      // Ids of objects authenticate themselves: one that this namespace never minted throws,
      // and no object is woken for it.
      try {
        return namespace.get(namespace.idFromString(text));
      } catch {
        return undefined;
      }
    },
  };
}
