/** Brings a server an answer that is kept for a question of an earlier life of the session's holder. */

import type { Position } from "./log/event-id.ts";
import type { EventLog } from "./log/event-log.ts";
import type { Reply } from "../protocol/json-rpc.ts";
import type { Dispatch } from "./dispatch.ts";

export interface TakenAnswer {
  /** The place of the question's event. */
  readonly position: Position;
  readonly ticket: string;
  readonly reply: Reply;
}

/** Never rejects. One that cannot be brought now is brought in the next life. */
export async function bring(
  log: EventLog,
  dispatch: Dispatch,
  { position, ticket, reply }: TakenAnswer,
): Promise<void> {
  if (await dispatch.answer(ticket, reply)) log.answerBrought(position);
}
