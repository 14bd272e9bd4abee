/** The objects that keep calls, by their names. */

import { Activities } from "../src/activity/activities.ts";
import type { SendBatch } from "../src/activity/call-queue.ts";
import { called } from "./ports.ts";

export function activitiesIn({ ACTIVITIES }: Pick<Env, "ACTIVITIES">): Activities {
  return new Activities((shard) => called(ACTIVITIES.getByName(shard)));
}

export function batchesTo({ ACTIVITIES }: Pick<Env, "ACTIVITIES">): SendBatch {
  return (shard, batch) => called(ACTIVITIES.getByName(shard)).add(batch);
}
