/** Whether an address asks for a login. */

import { failureOf } from "../http/failures.ts";
import { timeOut } from "./explained.ts";

/** @returns the challenge; `undefined` where nobody has to sign in. @throws NotReached or Broken. */
export async function challengeOf(url: URL): Promise<string | undefined> {
  const headers = { accept: "text/event-stream" };
  const signal = timeOut();
  const response = await fetch(url, { headers, signal, redirect: "manual" }).catch((error) => {
    signal.throwIfAborted();
    throw failureOf(error);
  });
  await response.body?.cancel();
  return response.status === 401 ? (response.headers.get("www-authenticate") ?? "") : undefined;
}
