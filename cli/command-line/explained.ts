/** Commands for people: what went wrong is one sentence, and what to do about it. */

import { Broken, LoginNeeded, NotReached } from "../http/failures.ts";
import { LoginError } from "../login/login-error.ts";
import { FolderError } from "../tokens/state-folder.ts";
import { problemOfFailure, silence } from "./diagnosis.ts";
import { notice } from "./notice.ts";

/** For each request that a person waits for. */
const TIMEOUT_SECONDS = 15;
const MINUTE_MS = 60_000;

export function timeOut(): AbortSignal {
  return AbortSignal.timeout(TIMEOUT_SECONDS * 1000);
}

/** @returns the exit code of the work, or 1 with the reason at stderr. */
export async function explained(url: URL, work: () => Promise<number>): Promise<number> {
  // A request that is not answered, and its time-out, would not keep the process.
  const stay = setInterval(() => undefined, MINUTE_MS);
  try {
    return await work();
  } catch (error) {
    notice(sentenceOf(url, error));
    return 1;
  } finally {
    clearInterval(stay);
  }
}

/** @throws what nobody can do anything about. */
function sentenceOf(url: URL, error: unknown): string {
  if (error instanceof NotReached || error instanceof Broken) {
    return problemOfFailure(url, error instanceof NotReached ? error.reason : error.message);
  }
  const isSentence = [LoginNeeded, LoginError, FolderError].some((kind) => error instanceof kind);
  if (isSentence) return (error as Error).message;
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return silence(url, TIMEOUT_SECONDS);
  }
  throw error;
}
