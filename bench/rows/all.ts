/** Every row there is, and when it is measured. */

import { ROW_NAMES, type RowName } from "../row-names.ts";
import { measureBill } from "./bill.ts";
import { measureCalls } from "./calls.ts";
import { measureCatalog } from "./catalog.ts";
import { measureEvents } from "./events.ts";
import { measureFanOut } from "./fan-out.ts";
import { measureIdle } from "./idle.ts";
import type { Row } from "./plan.ts";
import { measureReplay } from "./replay.ts";
import { measureSetUp } from "./set-up.ts";
import { measureSignIn } from "./sign-in.ts";
import { measureBundles, measureStarts } from "./weight.ts";

const MEASURES: Readonly<Record<RowName, Row["measure"]>> = {
  "call-hosted-modern": (plan) => measureCalls("call-hosted-modern", plan),
  "call-hosted-legacy": (plan) => measureCalls("call-hosted-legacy", plan),
  "call-proxied-modern": (plan) => measureCalls("call-proxied-modern", plan),
  "call-proxied-legacy": (plan) => measureCalls("call-proxied-legacy", plan),
  "call-recorded": (plan) => measureCalls("call-recorded", plan),
  "set-up": measureSetUp,
  events: measureEvents,
  replay: measureReplay,
  "fan-out": measureFanOut,
  catalog: measureCatalog,
  idle: measureIdle,
  bundle: measureBundles,
  "start-up": measureStarts,
  "sign-in": measureSignIn,
  bill: measureBill,
};

const ROWS: readonly Row[] = ROW_NAMES.map((name) => ({ name, measure: MEASURES[name] }));
const CALLS = ROWS.filter(({ name }) => name.startsWith("call-"));
const SIGN_IN = ROWS.filter(({ name }) => name === "sign-in");
const LOADS = [...SIGN_IN, ...CALLS];
const OTHERS = ROWS.filter((row) => !LOADS.includes(row));

/**
 * In this order. What answers to load is measured in two passes, by other processes and minutes apart,
 * since what else a machine has to do comes and goes; and the other way round, as it may also grow. When
 * time is short, the last of them have no second pass: sign-in, whose two sides are the most alike, comes last.
 */
export const SCHEDULE: readonly Row[] = [...LOADS, ...OTHERS, ...LOADS.toReversed()];
