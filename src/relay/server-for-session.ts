/** The way from one client's session to one server, in whichever era the two can meet. */

import type { ClientFacts, Dispatch, Unsolicited } from "../sessions/dispatch.ts";
import { isSavedModern, type SavedServer } from "../upstream/legacy/saved-server.ts";
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
  /** What the client wants to have logged by every server; it goes before what it told this one. */
  readonly logLevel: () => string | undefined;
  /** What a session at the server is to be subscribed to whenever it is opened anew. */
  readonly subscriptions: () => readonly string[];
  readonly toolFacts: ToolFactsOf;
  /** Whether the client may use tasks at this server by itself (2025-11-25, tasks). */
  readonly hasTasks: boolean;
  /** How many of the server's tools are looked at. */
  readonly maxTools: number;
}

export function serverForSession(options: ServerForSessionOptions): Dispatch {
  const { saved: found, save, logLevel, ...shared } = options;
  const { target, unsolicited } = shared;
  let saved = found;
  // What the client has told this server holds in both eras.
  let told = found?.logLevel;
  const keep = (state: SavedServer): void => {
    told = state.logLevel ?? told;
    saved = told === undefined ? state : { ...state, logLevel: told };
    save(saved);
  };
  const wasModern = found !== undefined && isSavedModern(found);
  const isModern = target.era === "modern" || (target.era === "auto" && wasModern);
  return new EitherEra({
    ...{ slug: target.slug, isFixed: target.era !== "auto" },
    era: isModern ? "modern" : "legacy",
    make(era) {
      if (era === "legacy") {
        const before = saved === undefined || isSavedModern(saved) ? undefined : saved;
        return new LegacyRelay({
          ...{ ...shared, saved: before, save: keep },
          logLevel: () => logLevel() ?? told,
          onReopened: () => unsolicited.reopened(),
        });
      }
      if (saved === undefined || !isSavedModern(saved)) keep({ era: "modern" });
      return new ModernServer({
        ...{ ...shared, logLevel, savedLogLevel: told },
        saveLogLevel: (level) => keep({ era: "modern", logLevel: level }),
      });
    },
  });
}
