/** A server of a client's session: what a test does not say of it is as plain as it can be. */

import type { ServerView } from "../../../src/relay/client-peer.ts";
import {
  ServerInSession,
  type ServerInSessionOptions,
} from "../../../src/relay/server-in-session.ts";
import type { LegacyRevision } from "../../../src/protocol/revisions.ts";
import type { Unsolicited } from "../../../src/sessions/dispatch.ts";

/** Nobody listens to messages outside a request. */
const UNHEARD: Unsolicited = {
  notify: () => Promise.resolve(),
  ask: () => Promise.resolve({ result: {} }),
  primed: () => undefined,
  reopened: () => undefined,
  lastResumeToken: () => undefined,
  hasOpenStream: () => false,
};

export function viewOf(revision: LegacyRevision, slug = "fake"): ServerView {
  return { slug, revision, isNamed: false, passes: () => true };
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
    toolFacts: () => Promise.resolve(undefined),
    hasTasks: false,
    maxTools: 100,
    ...options,
  });
}
