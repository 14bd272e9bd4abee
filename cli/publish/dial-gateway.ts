/** Opens the WebSocket to the gateway, with the credential of whoever is signed in. */

import {
  MAX_BODY_BYTES,
  PUBLISH_PATH,
  PUBLISH_PROTOCOL,
  readPublishRefusal,
} from "../../src/protocol/publishing.ts";
import { NotReached } from "../http/failures.ts";
import type { Credentials } from "../http/gateway.ts";
import { dial, type Refusal } from "../websocket/dial.ts";
import { WebSocketConnection } from "../websocket/web-socket.ts";

/** Dialling once more would not help; the message says why. */
export class Fatal extends Error {
  override readonly name = "Fatal";
}

/** Its head comes on top of the message in a frame. */
const MAX_FRAME_BYTES = MAX_BODY_BYTES + 4096;
const TIMEOUT_MS = 15_000;

/**
 * @param url of the gateway.
 * @param deadline when to give up waiting for a person to sign in, as `Credentials.renew` takes it.
 * @throws Fatal; LoginNeeded; NotReached or Broken, after which it may be dialled again.
 */
export async function dialGateway(
  url: URL,
  credentials: Credentials,
  deadline: number,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<WebSocketConnection> {
  for (let attempt = 0; ; attempt++) {
    const authorization = await credentials.current();
    const answer = await dial({
      url: new URL(PUBLISH_PATH, url),
      headers: authorization === undefined ? {} : { authorization },
      subprotocol: PUBLISH_PROTOCOL,
      maxBytes: MAX_FRAME_BYTES,
      timeoutMs: TIMEOUT_MS,
      onText,
      signal,
    });
    if (answer instanceof WebSocketConnection) return answer;
    // The second refusal of a credential that is new says that no other would help.
    if (answer.status !== 401 || attempt > 1) throw failureOf(answer, url);
    await credentials.renew(authorization, answer.challenge, deadline);
  }
}

function failureOf({ status, body }: Refusal, { origin }: URL): Fatal | NotReached {
  const { message } = readPublishRefusal(body) ?? {};
  const sentence = message ?? `${origin}${PUBLISH_PATH} answers with status ${status}`;
  if (status === 429 || status >= 500) return new NotReached(sentence);
  if (status === 404) return new Fatal(`${sentence}: this gateway takes no published servers`);
  return new Fatal(sentence);
}
