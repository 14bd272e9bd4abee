/** The heap of a Worker after a collection, by the protocol that debuggers speak. */

interface Reply {
  readonly id?: number;
  readonly result?: { readonly usedSize?: number };
}

/**
 * @param inspector host and port.
 * @param worker the name of the Worker.
 * @returns bytes in use by its isolate, its Durable Objects included.
 */
export async function collectedHeap(inspector: string, worker: string): Promise<number> {
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
  const ask = (method: string): Promise<Reply> =>
    new Promise((resolve) => {
      waiting.set(++id, resolve);
      socket.send(JSON.stringify({ id, method }));
    });
  try {
    // What finalizers let go of is collected the second time.
    await ask("HeapProfiler.collectGarbage");
    await ask("HeapProfiler.collectGarbage");
    const { result } = await ask("Runtime.getHeapUsage");
    if (result?.usedSize === undefined) throw new Error("The heap was not told");
    return result.usedSize;
  } finally {
    socket.close();
  }
}
