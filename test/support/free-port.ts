/** Ports for programs that listen where a test wants, so that no two tests ever use the same one. */

import { randomInt } from "node:crypto";
import { createServer, type ListenOptions, type Server } from "node:net";

/** Below what systems hand out (Linux from 32768, macOS from 49152), to connections and to servers that take any. */
const FIRST = 20_000;
const END = 32_000;
const MOST_TRIES = 100;

/**
 * A port of this machine that nobody listens on, and that no other process is told while this one lives: what
 * is free now may be somebody else's when the program that it is for has started.
 *
 * @throws Error when there is none.
 */
export async function freePort(first = FIRST, end = END): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const port = randomInt(first, end);
    const claim = await claimed(port);
    if (claim === undefined) continue;
    if (await isFree(port)) return port;
    claim.close();
  }
  throw new Error(`No port from ${first} to ${end - 1} is free`);
}

/** A name that one process can have, and that the system takes back when it ends. Other systems have none. */
function claimed(port: number): Promise<Server | undefined> {
  const path = process.platform === "linux" ? `\0edgeway-port-${port}` : undefined;
  return path === undefined ? Promise.resolve(createServer()) : listening({ path });
}

async function isFree(port: number): Promise<boolean> {
  const server = await listening({ port, host: "127.0.0.1" });
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/** @returns nothing when it is taken. */
function listening(options: ListenOptions): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer().unref();
    server.once("error", () => resolve(undefined));
    server.listen(options, () => resolve(server));
  });
}
