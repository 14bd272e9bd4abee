/** Asks a legacy server in a session of its own, which is closed afterwards. */

import { nullPeer } from "../../protocol/null-peer.ts";
import { LegacyConnection } from "../../upstream/legacy/connection.ts";
import type { LegacyClient } from "../../upstream/legacy/handshake.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { advertises, type ListSource } from "./list-source.ts";

/** No client is behind this session to answer requests of the server. */
const NOBODY = nullPeer("Nobody is here to answer: only lists are read");

/** @throws UpstreamError `other-era` when the server has no legacy era; or why it is unavailable. */
export async function askLegacy(
  target: UpstreamTarget,
  client: LegacyClient,
  signal: AbortSignal,
): Promise<ListSource> {
  const connection = new LegacyConnection({
    target,
    client,
    unsolicited: NOBODY,
    save: () => undefined,
  });
  // The server may be slow to answer the DELETE request.
  const close = (): void => void connection.close();
  try {
    const { capabilities, serverInfo, instructions } = await connection.open();
    // Required before any request (lifecycle).
    await connection.notify({ method: "notifications/initialized" });
    return {
      era: "legacy",
      about: { capabilities, serverInfo, instructions },
      advertises: (list) => advertises(capabilities, list),
      // What a server did not advertise MUST NOT be asked for (lifecycle, operation).
      mayHave: (list) => advertises(capabilities, list),
      isLawful: () => true,
      ask: (method, params) => connection.request({ method, params }, NOBODY, signal),
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}
