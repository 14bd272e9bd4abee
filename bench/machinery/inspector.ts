/** The inspector of a Worker, by the protocol that debuggers speak (Chrome DevTools Protocol). */

interface Reply<Result> {
  readonly id?: number;
  readonly result?: Result;
  readonly error?: { readonly message: string };
}

/**
 * Sends a command, and resolves with its result.
 *
 * @throws Error when the inspector refuses the command.
 */
export type Ask<Result> = (method: string, params?: object) => Promise<Result | undefined>;

/**
 * Connects to an inspector for as long as `use` takes.
 *
 * @param inspector host and port.
 * @param worker the name of the Worker.
 * @throws Error when there is no inspector; whatever `use` throws.
 */
export async function withInspector<Result, T>(
  inspector: string,
  worker: string,
  use: (ask: Ask<Result>) => Promise<T>,
): Promise<T> {
  const socket = new WebSocket(`ws://${inspector}/${worker}`);
  const waiting = new Map<number, (reply: Reply<Result>) => void>();
  socket.addEventListener("message", ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply<Result>;
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error(`No inspector at ${inspector}`)));
  });
  let id = 0;
  const ask: Ask<Result> = async (method, params = {}) => {
    const { error, result } = await new Promise<Reply<Result>>((resolve) => {
      waiting.set(++id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  try {
    return await use(ask);
  } finally {
    socket.close();
  }
}
