/** Delivers a kept answer to the server that asked in an earlier life of the session's object. */

import type { Position } from "./log/event-id.ts";
import type { EventLog } from "./log/event-log.ts";
import type { Reply } from "../protocol/json-rpc.ts";
import type { Dispatch } from "./dispatch.ts";

export interface TakenAnswer {
  /** The place of the question's event. */
  readonly position: Position;
  readonly resumeToken: string;
  readonly reply: Reply;
}

/** Never rejects. An answer that cannot be delivered now is delivered in the object's next life. */
export async function bring(
  log: EventLog,
  dispatch: Dispatch,
  { position, resumeToken, reply }: TakenAnswer,
): Promise<void> {
  if (await dispatch.answer(resumeToken, reply)) log.answerBrought(position);
}
