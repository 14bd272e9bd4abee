/**
 * A thousand events, fetched again with `Last-Event-ID`: of a call's stream that has ended. `McpAgent`
 * forgets such a stream with its last event, so its events are those of the session's own stream.
 */

import { type Participant, takeTurns } from "../turns.ts";
import { naming, type Running, withServers } from "../machinery/field.ts";
import { type Headers, legacyHeaders, openSession, post } from "../machinery/mcp.ts";
import {
  behind,
  startMcpAgent,
  startNodeServer,
  startResumableNodeServer,
} from "../machinery/servers.ts";
import { burst, hear, resume } from "../machinery/streams.ts";
import { MILLISECONDS, OURS, type Result } from "../row.ts";
import type { Plan } from "./plan.ts";

const EVENTS = 1000;
const BYTES = 200;

const AGENT = "McpAgent";

export function measureReplay({ say, ...pace }: Plan): Promise<readonly Result[]> {
  const contenders = [
    { name: OURS, start: () => behind(startNodeServer) },
    { name: "SDK on Node", start: startResumableNodeServer },
    { name: AGENT, start: () => startMcpAgent() },
  ];
  return withServers(contenders, async (running) => {
    say("replay");
    const participants: Participant[] = [];
    for (const each of running) participants.push(await naming(each.name, () => prepare(each)));
    for (const { name, sample } of participants) await naming(name, sample); // it warms up
    const measured = await takeTurns(participants, pace);
    const notes = [`${AGENT} replays the session's own stream: it keeps no stream of a call`];
    return [
      { row: "replay", variant: `${EVENTS} events`, metrics: [MILLISECONDS], measured, notes },
    ];
  });
}

async function prepare({ name, server: { url } }: Running): Promise<Participant> {
  const session = await openSession(url);
  // What follows the first event: as many events again, whatever the last one is.
  const { firstId } =
    name === AGENT
      ? await announced(url, session, EVENTS + 1)
      : await burst(url, session, EVENTS, BYTES);
  if (firstId === undefined) throw new Error("Its events have no ids");
  return {
    name,
    async sample() {
      const hangUp = new AbortController();
      const startedAt = performance.now();
      const response = await resume(url, session, firstId, hangUp.signal);
      const { count } = await hear(response, 2, EVENTS + 1);
      const ms = performance.now() - startedAt;
      hangUp.abort();
      if (count !== EVENTS) throw new Error(`${count} of ${EVENTS} events were replayed`);
      return { ms };
    },
  };
}

/** Has the server say things that belong to no request, and hears them. */
async function announced(
  url: string,
  session: Headers,
  count: number,
): Promise<{ readonly firstId: string | undefined }> {
  const hangUp = new AbortController();
  const stream = await resume(url, session, undefined, hangUp.signal);
  const heard = hear(stream, 1, count);
  const params = { name: "announce", arguments: { count, bytes: BYTES } };
  const message = { id: 1, method: "tools/call", params };
  await (await post(url, legacyHeaders(session), message)).text();
  const { firstId } = await heard;
  hangUp.abort();
  return { firstId };
}
