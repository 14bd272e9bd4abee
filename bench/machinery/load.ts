/**
 * Load on one server: so many connections, each asking again as soon as it was answered. Every
 * answer is looked at, and one that is wrong ends it all.
 */

import type { Sample } from "../turns.ts";
import { percentile } from "../statistics.ts";
import type { Answer } from "./answer-reader.ts";
import { Connection } from "./connection.ts";

/** What one connection asks for, again and again. */
export interface Asking {
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the nth request, in ASCII. */
  body(n: number): string;
  /** @throws Error when this is no right answer to it. */
  check(answer: Answer, n: number): void;
}

export interface Load {
  /** @returns how many were `answered` in `seconds`, `requests` per second, `p50` and `p99` in ms. */
  run(seconds: number): Promise<Sample>;
  close(): void;
}

/** How long an answer may take, more than the load does. */
const PATIENCE_MS = 10_000;

/** @param url of the server. @param askings one for each connection. */
export function openLoad(url: string, askings: readonly Asking[]): Load {
  const { origin, pathname } = new URL(url);
  const lanes = askings.map((asking) => {
    const connection = new Connection(origin);
    return { asking, connection, head: connection.head(pathname, asking.headers) };
  });
  let n = 0;

  return {
    async run(seconds) {
      const latencies: number[] = [];
      const startedAt = performance.now();
      const until = startedAt + seconds * 1000;
      const work = async ({ asking, connection, head }: (typeof lanes)[number]): Promise<void> => {
        for (let now = startedAt; now < until;) {
          const id = ++n;
          const sentAt = performance.now();
          const answer = await connection.post(head, asking.body(id));
          now = performance.now();
          latencies.push(now - sentAt);
          asking.check(answer, id);
        }
      };
      const giveUp = setTimeout(
        () => {
          const waiting = lanes.filter(({ connection }) => connection.isWaiting).length;
          const sentence = `An answer never came to ${waiting} of ${lanes.length} connections, after ${latencies.length} requests`;
          for (const { connection } of lanes) connection.close(new Error(sentence));
        },
        seconds * 1000 + PATIENCE_MS,
      );
      await Promise.all(lanes.map((lane) => work(lane))).finally(() => clearTimeout(giveUp));
      const elapsed = (performance.now() - startedAt) / 1000;
      return {
        answered: latencies.length,
        seconds: elapsed,
        requests: latencies.length / elapsed,
        p50: percentile(latencies, 0.5),
        p99: percentile(latencies, 0.99),
      };
    },
    close() {
      for (const { connection } of lanes) connection.close();
    },
  };
}
