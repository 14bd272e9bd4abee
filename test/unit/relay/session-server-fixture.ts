/** A server of a client's session: all that a test does not set is as plain as possible. */

import type { ServerView } from "../../../src/relay/client-peer.ts";
import {
  ServerInSession,
  type ServerInSessionOptions,
} from "../../../src/relay/server-in-session.ts";
import type { LegacyRevision } from "../../../src/protocol/revisions.ts";
import type { Unsolicited } from "../../../src/sessions/dispatch.ts";

/** No listener for messages outside a request. */
export const UNHEARD: Unsolicited = {
  notify: () => Promise.resolve(),
  ask: () => Promise.resolve({ result: {} }),
  primed: () => undefined,
  reopened: () => undefined,
  lastResumeToken: () => undefined,
  hasOpenStream: () => false,
};

export function viewOf(revision: LegacyRevision, slug = "fake"): ServerView {
  const view = { slug, revision, isNamed: false, passes: () => true };
  return { ...view, outdated: () => Promise.resolve() };
}

export function serverInSession(
  options: Pick<ServerInSessionOptions, "target" | "client"> & Partial<ServerInSessionOptions>,
): ServerInSession {
  const { target, client } = options;
  return new ServerInSession({
    view: viewOf(client.revision, target.slug),
    unsolicited: UNHEARD,
    saved: undefined,
    save: () => undefined,
    logLevel: () => undefined,
    subscriptions: () => [],
    onMissed: () => undefined,
    toolFacts: () => Promise.resolve(undefined),
    tasksScope: undefined,
    maxTools: 100,
    ...options,
  });
}
