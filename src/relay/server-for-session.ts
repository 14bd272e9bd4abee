/** Makes the dispatch from one client's session to one server, in the era that both support. */

import type { ClientFacts, Dispatch, Unsolicited } from "../sessions/dispatch.ts";
import { isSavedModern, type SavedServer } from "../upstream/legacy/saved-connection.ts";
import type { UpstreamTarget } from "../upstream/target.ts";
import { EitherEra } from "./either-era.ts";
import { LegacyRelay } from "./legacy-to-legacy/legacy-to-legacy.ts";
import { ModernServer } from "./legacy-to-modern/modern-server.ts";
import type { ToolFactsOf } from "../catalog/cache/tool-facts.ts";

export interface ServerForSessionOptions {
  readonly target: UpstreamTarget;
  readonly client: ClientFacts;
  readonly unsolicited: Unsolicited;
  readonly saved: SavedServer | undefined;
  /** Called with the new state whenever it changes. */
  readonly save: (state: SavedServer) => void;
  /** The log level that the client has set for every server; it precedes the one set at this server. */
  readonly logLevel: () => string | undefined;
  /** The resources that a session at the server is subscribed to whenever it is opened anew. */
  readonly subscriptions: () => readonly string[];
  readonly toolFacts: ToolFactsOf;
  /** The client may use tasks at this server itself (2025-11-25, tasks). */
  readonly hasTasks: boolean;
  /** The largest number of the server's tools that are looked at. */
  readonly maxTools: number;
}

export function serverForSession(options: ServerForSessionOptions): Dispatch {
  const { saved: found, save, logLevel, ...shared } = options;
  const { target, unsolicited } = shared;
  let saved = found;
  // The level that the client has set at this server holds in both eras.
  let level = found?.logLevel;
  const keep = (state: SavedServer): void => {
    level = state.logLevel ?? level;
    saved = level === undefined ? state : { ...state, logLevel: level };
    save(saved);
  };
  const wasModern = found !== undefined && isSavedModern(found);
  const isModern = target.era === "modern" || (target.era === "auto" && wasModern);
  return new EitherEra({
    slug: target.slug,
    isFixed: target.era !== "auto",
    era: isModern ? "modern" : "legacy",
    make(era) {
      if (era === "legacy") {
        const before = saved === undefined || isSavedModern(saved) ? undefined : saved;
        return new LegacyRelay({
          ...shared,
          saved: before,
          save: keep,
          logLevel: () => logLevel() ?? level,
          onReopened: () => unsolicited.reopened(),
        });
      }
      if (saved === undefined || !isSavedModern(saved)) keep({ era: "modern" });
      return new ModernServer({
        ...shared,
        logLevel,
        savedLogLevel: level,
        saveLogLevel: (newLevel) => keep({ era: "modern", logLevel: newLevel }),
      });
    },
  });
}
