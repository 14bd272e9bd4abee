/** A profile of a process of workerd, taken by the protocol that debuggers speak. */

import { withInspector } from "../machinery/inspector.ts";

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[];
}

export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  /** From 0. */
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** What `Profiler.stop` gives; DevTools and speedscope open it. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The node at each sample. */
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

const INTERVAL_US = 1000;

/**
 * @param inspector host and port.
 * @param worker the name of the Worker.
 * @param busy what keeps it busy meanwhile.
 */
export function profileOf(
  inspector: string,
  worker: string,
  busy: () => Promise<unknown>,
): Promise<CpuProfile> {
  return withInspector<{ readonly profile?: CpuProfile }, CpuProfile>(
    inspector,
    worker,
    async (ask) => {
      await ask("Profiler.enable");
      await ask("Profiler.setSamplingInterval", { interval: INTERVAL_US });
      await ask("Profiler.start");
      await busy();
      const { profile } = (await ask("Profiler.stop")) ?? {};
      if (profile === undefined) throw new Error("There is no profile");
      return profile;
    },
  );
}
