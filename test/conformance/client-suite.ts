/**
 * The official conformance suite for clients: it plays the servers. It starts all scenarios at once, each with a
 * server of its own, so that one gateway can stand in front of them all.
 */

import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";

import { inParallel } from "../support/in-parallel.ts";
import { NODE, ROOT } from "../support/process.ts";
import { type Check, readChecks, RUN_TIMEOUT_MS, SUITE } from "./suite.ts";

const COMMAND = `${ROOT}test/conformance/client-command.ts`;
/** Each has a client or two, and the machine is busy. */
const AT_ONCE = 4;

export interface Scenario {
  readonly name: string;
  /** The revision that its server speaks. */
  readonly revision: string;
  /** Of the server that the suite plays. */
  readonly url: string;
  readonly context: Readonly<Record<string, unknown>>;
}

/** What is wrong in a scenario whose server the client has not reached. */
const NOTHING = "The suite has checked nothing";

/** Plays a scenario, as the client. @throws what went wrong. */
export type Play = (scenario: Scenario) => Promise<void>;

/** The gateway and its clients. */
export interface ClientSide {
  readonly play: Play;
  /** Ends every connection to the servers: the suite waits for a stream that is still open, for ever. */
  close(): Promise<void>;
}

/** @returns the names of the scenarios for clients, of all or of those that the arguments mean, in order. */
export async function listScenarios(args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(NODE, [SUITE, "list", "--client", ...args]);
  return Array.from(stdout.matchAll(/^ +- (\S+)/gm), ([, name = ""]) => name).toSorted();
}

/**
 * Runs scenarios.
 *
 * @param prepare learns of all of them before the first is played.
 * @returns the names of all scenarios, each with what is wrong in it: failures, and warnings too.
 */
export async function runClientSuite(
  args: readonly string[],
  prepare: (scenarios: readonly Scenario[]) => Promise<ClientSide>,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const results = await mkdtemp(join(tmpdir(), "edgeway-clients-"));
  const stage = await openStage();
  const { signal } = stage;
  const child = spawn(
    NODE,
    [
      ...[SUITE, "client", ...args, "-o", results, "--timeout", String(RUN_TIMEOUT_MS)],
      ...["--command", `${NODE} ${COMMAND} ${stage.url}`],
    ],
    { cwd: results, signal, stdio: ["ignore", "pipe", "pipe"] },
  );
  child.on("error", () => undefined); // it was aborted
  try {
    let output = "";
    const ended = new Promise((resolve) => child.once("close", resolve));
    const count = new Promise<number>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
          const [, found] = /^Running .*\((\d+) scenarios\)/m.exec(output) ?? [];
          if (found !== undefined) resolve(Number(found));
        });
      }
      child.once("close", () => reject(new Error(output)));
    });
    const entries = await stage.gather(await count);
    const clients = await prepare(entries.map(({ scenario }) => scenario));
    const wrong = new Map<string, readonly string[]>();
    await inParallel(entries.length, AT_ONCE, async (index) => {
      const entry = entries[index];
      if (entry === undefined) return;
      const { scenario } = entry;
      const problem = await clients.play(scenario).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : "failed"),
      );
      wrong.set(scenario.name, problem === undefined ? [] : [problem]);
      entry.end(problem);
    });
    await clients.close();
    await ended;
    const names = [...wrong.keys()].toSorted();
    const verdicts = names.map(async (name) => {
      const checks = await readChecks(results, `${name}-2`);
      const found = checks.length === 0 ? [NOTHING] : checks.filter(isWrong).map(inWords);
      return [name, [...(wrong.get(name) ?? []), ...found]] as const;
    });
    return Object.fromEntries(await Promise.all(verdicts));
  } finally {
    stage.close();
    await rm(results, { recursive: true, force: true });
  }
}

function isWrong({ status }: Check): boolean {
  return status === "FAILURE" || status === "WARNING";
}

function inWords({ id, name, status, errorMessage = "" }: Check): string {
  return `${status} ${id} (${name ?? ""}): ${errorMessage}`;
}

/** A scenario whose client waits for what to end as. */
interface Entry {
  readonly scenario: Scenario;
  readonly end: (problem: string | undefined) => void;
}

interface Stage {
  readonly url: string;
  /** Aborts when the stage is closed. */
  readonly signal: AbortSignal;
  /** Waits for so many scenarios. */
  gather(count: number): Promise<readonly Entry[]>;
  close(): void;
}

/** Where the clients that the suite has started meet. */
async function openStage(): Promise<Stage> {
  const entries: Entry[] = [];
  const closing = new AbortController();
  let wanted = Infinity;
  const { promise: complete, resolve } = Promise.withResolvers<void>();
  const look = (): void => void (entries.length >= wanted && resolve());
  const server = createServer((request, response) => {
    json(request)
      .then((scenario) => {
        entries.push({
          scenario: scenario as Scenario,
          end: (problem) => response.writeHead(problem === undefined ? 200 : 500).end(problem),
        });
        look();
      })
      .catch(() => response.destroy());
  });
  server.requestTimeout = 0;
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    signal: closing.signal,
    async gather(count) {
      wanted = count;
      look();
      await complete;
      return entries;
    },
    close() {
      closing.abort();
      server.closeAllConnections();
      server.close();
    },
  };
}
