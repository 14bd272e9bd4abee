/** The network between a client and a gateway: it breaks connections in the middle of what the gateway sends. */

import { connect, createServer, type AddressInfo, type Socket } from "node:net";

import type { Seeded } from "./seeded.ts";

export interface CuttingProxy {
  readonly origin: string;
  /** How many connections it has broken. */
  readonly cuts: number;
  /** Breaks all that are open now. */
  cut(): void;
  close(): Promise<void>;
}

/**
 * @param gateway its origin. A gateway whose origin is not configured takes the host of each request.
 * @param bytes between which numbers of bytes of the gateway a connection breaks.
 * @param most cuts: after them, connections last.
 */
export async function startCuttingProxy(
  gateway: string,
  { int }: Seeded,
  [least, greatest]: readonly [number, number],
  most: number,
): Promise<CuttingProxy> {
  const { hostname, port } = new URL(gateway);
  const open = new Set<Socket>();
  let cuts = 0;
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const server = createServer((client) => {
    const onward = connect({ host: hostname, port: Number(port) });
    let left = int(least, greatest);
    const end = (): void => {
      client.destroy();
      onward.destroy();
    };
    for (const socket of [client, onward]) {
      open.add(socket);
      socket.on("error", end).on("close", () => {
        open.delete(socket);
        end();
      });
    }
    client.on("data", (chunk) => onward.write(chunk));
    onward.on("data", (chunk: Buffer) => {
      const isCut = cuts < most && chunk.length >= left;
      client.write(isCut ? chunk.subarray(0, left) : chunk, () => {
        if (isCut) end();
      });
      left -= chunk.length;
      if (isCut) cuts += 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    cut,
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
