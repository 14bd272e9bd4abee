/** What takes the records of calls, beside the log, by the bindings that the gateway has. */

import { analyticsSink, type Dataset } from "../src/observability/analytics.ts";
import type { CallSink } from "../src/observability/call-record.ts";
import { CallQueue } from "../src/activity/call-queue.ts";
import { isolateSink } from "../src/activity/isolate-sink.ts";
import { ObjectSink } from "../src/activity/object-sink.ts";
import type { Config } from "../src/config/config.ts";
import { batchesTo } from "./activities.ts";

type Recording = Pick<Config, "activity">;

/**
 * @param activity of the Worker, or of the object in which calls end.
 * @returns `undefined` when nothing takes them: then nothing is made for it.
 */
export function callSinksIn(
  { ANALYTICS }: Pick<Env, "ANALYTICS">,
  activity: CallSink | undefined,
): readonly CallSink[] | undefined {
  const analytics = isDataset(ANALYTICS) ? analyticsSink(ANALYTICS) : undefined;
  const sinks = [analytics, activity].filter((sink) => sink !== undefined);
  return sinks.length === 0 ? undefined : sinks;
}

/** Of the Worker. @returns `undefined` when calls are not recorded. */
export function activityOfIsolate(
  env: Pick<Env, "ACTIVITIES">,
  { activity }: Recording,
): CallSink | undefined {
  return activity === "off" ? undefined : isolateSink(new CallQueue(batchesTo(env)));
}

/** Of an object in which calls end. @param scheduleAlarm has `flush` called by a time. */
export function activityOfObject(
  env: Pick<Env, "ACTIVITIES">,
  { activity }: Recording,
  scheduleAlarm: (at: number) => void,
): ObjectSink | undefined {
  if (activity === "off") return undefined;
  const queue = new CallQueue(batchesTo(env));
  return new ObjectSink({ queue, scheduleAlarm, now: () => Date.now() });
}

function isDataset(value: unknown): value is Dataset {
  return typeof value === "object" && value !== null && "writeDataPoint" in value;
}
