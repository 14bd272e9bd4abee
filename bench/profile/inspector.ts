/** A profile of a process of workerd, taken by the protocol that debuggers speak. */

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

interface Reply {
  readonly id?: number;
  readonly error?: { readonly message: string };
  readonly result?: { readonly profile?: CpuProfile };
}

const INTERVAL_US = 1000;

/**
 * @param inspector host and port.
 * @param worker the name of the Worker.
 * @param busy what keeps it busy meanwhile.
 */
export async function profileOf(
  inspector: string,
  worker: string,
  busy: () => Promise<unknown>,
): Promise<CpuProfile> {
  const socket = new WebSocket(`ws://${inspector}/${worker}`);
  const waiting = new Map<number, (reply: Reply) => void>();
  socket.addEventListener("message", ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error(`No inspector at ${inspector}`)));
  });
  let id = 0;
  const ask = async (method: string, params = {}): Promise<Reply["result"]> => {
    const { error, result } = await new Promise<Reply>((resolve) => {
      waiting.set(++id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  try {
    await ask("Profiler.enable");
    await ask("Profiler.setSamplingInterval", { interval: INTERVAL_US });
    await ask("Profiler.start");
    await busy();
    const { profile } = (await ask("Profiler.stop")) ?? {};
    if (profile === undefined) throw new Error("There is no profile");
    return profile;
  } finally {
    socket.close();
  }
}
