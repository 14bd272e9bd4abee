/** A stream of a session on its way to the client, and the news of the client's going back. */

import type { Opened } from "../sessions/outcome.ts";
import { eventStream } from "./answers.ts";
import type { DoorContext, SessionStub } from "./door.ts";

/** @param preamble what the stream opens with, before anything of the session. */
export function sessionStream(
  { route, limits, waitUntil }: DoorContext,
  session: SessionStub,
  { body, connection }: Opened,
  preamble = "",
): Response {
  return eventStream(body, limits.keepAliveSeconds, {
    preamble,
    // A session that is gone as well need not be told.
    onCancel: () => waitUntil(session.detach(route, connection).catch(() => undefined)),
  });
}
