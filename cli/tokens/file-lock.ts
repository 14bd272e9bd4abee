/**
 * A lock that processes share, and that outlives none of them. Each holder has a file of its own, with a number:
 * the one with the largest number holds the lock. To take it, a process makes the file with the next number, which
 * succeeds for one only. A holder says that it is alive by the time of its file, so that a crash, and a process id
 * that another program has by now, are noticed. A machine that was asleep is no crash: who still runs is waited for
 * until it has had the time to say so.
 */

import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname } from "node:path";

import { sleep } from "../../src/lib/sleep.ts";
import { tryJson } from "../../src/lib/try-json.ts";
import { isObject } from "../../src/protocol/json-rpc.ts";
import { replaceFile } from "./replace-file.ts";
import { inFolder } from "./state-folder.ts";

const HEARTBEAT_MS = 5000;
const STALE_MS = 30_000;
/** Of a holder that runs, or may: after a sleep of the machine, its next heartbeat takes a while. */
const WAKING_MS = 2 * HEARTBEAT_MS;
const POLL_MS = 100;
const FREE = "{}";

/**
 * Runs work while no other process does.
 *
 * @param path begins the names of the files.
 * @throws FolderError, or the reason of the signal, which ends the wait for the lock.
 */
export async function withLock<T>(
  path: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const folder = dirname(path);
  const own = await inFolder(folder, () => take(path, signal));
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(own, now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    // The file stays, so that the numbers go on.
    await inFolder(folder, () => replaceFile(own, FREE));
  }
}

/** @returns the file that holds the lock. */
async function take(path: string, signal: AbortSignal): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const silence = new Silence();
  for (;;) {
    signal.throwIfAborted();
    const latest = await latestOf(path);
    if (latest === 0 || (await isOver(fileOf(path, latest), silence))) {
      const own = fileOf(path, latest + 1);
      // Another one may have made it, or a later one, since the folder was read.
      if ((await create(own)) && (await latestOf(path)) === latest + 1) {
        await removeBefore(path, latest + 1);
        return own;
      }
    }
    await sleep(POLL_MS * (0.5 + Math.random()), signal);
  }
}

function fileOf(path: string, number: number): string {
  return `${path}.${number}`;
}

async function numbersOf(path: string): Promise<readonly number[]> {
  const begin = `${basename(path)}.`;
  const names = await readdir(dirname(path));
  return names
    .filter((name) => name.startsWith(begin) && /^\d+$/.test(name.slice(begin.length)))
    .map((name) => Number(name.slice(begin.length)));
}

/** @returns 0 where there is none. */
async function latestOf(path: string): Promise<number> {
  return Math.max(0, ...(await numbersOf(path)));
}

async function removeBefore(path: string, own: number): Promise<void> {
  for (const number of await numbersOf(path)) {
    if (number < own) await rm(fileOf(path, number), { force: true });
  }
}

async function create(own: string): Promise<boolean> {
  try {
    const holder = JSON.stringify({ pid: process.pid, host: hostname() });
    await writeFile(own, holder, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (isObject(error) && error["code"] === "EEXIST") return false;
    throw error;
  }
}

/** How long a file has had the same time, by a clock that stands still while the machine sleeps. */
class Silence {
  #key = "";
  #since = 0;

  /** @returns how long, in milliseconds. */
  of(file: string, mtimeMs: number): number {
    const key = `${file} ${mtimeMs}`;
    if (key !== this.#key) {
      this.#key = key;
      this.#since = performance.now();
    }
    return performance.now() - this.#since;
  }
}

/** True for a lock that was released, or whose holder has died. */
async function isOver(file: string, silence: Silence): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(file);
    const text = await readFile(file, "utf8");
    if (text === FREE) return true;
    const holder = tryJson(text);
    // Its holder may be about to write it; that of another machine is known by its heartbeat alone.
    const pid = isObject(holder) && holder["host"] === hostname() ? holder["pid"] : undefined;
    if (typeof pid === "number" && !isAlive(pid)) return true;
    const isSilent = silence.of(file, mtimeMs) > WAKING_MS;
    return isSilent && Date.now() - mtimeMs > STALE_MS;
  } catch {
    return false; // removed by a later holder
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isObject(error) && error["code"] === "EPERM";
  }
}
