/** Begins an attempt, and binds it to the browser that began it. */

import { hashOf, randomSecret } from "../../lib/random.ts";
import type { AuthContext } from "../context/context.ts";
import { cookie, noCookie, readCookies } from "../cookies.ts";
import type { Attempt } from "./attempt.ts";
import { AttemptSeal, COOKIE, cookieName } from "./attempt-seal.ts";

/**
 * A browser with more open attempts has mostly forgotten them, and the size of headers is limited.
 */
const MAX_COOKIES = 12;

/** @returns a new random handle and its id. */
export async function newHandle(): Promise<Pick<Attempt, "handle" | "id">> {
  const handle = randomSecret();
  return { handle, id: await hashOf(handle) };
}

/** @returns the values of `Set-Cookie` for the browser. */
export async function openAttempt(
  { store, limits }: AuthContext,
  request: Request,
  { handle, id, stage, content }: Attempt,
): Promise<readonly string[]> {
  const secret = randomSecret();
  const [browser, seal] = await Promise.all([hashOf(secret), AttemptSeal.of(handle)]);
  const seconds = limits.attemptMinutes * 60;
  await store.ephemeral(id).attempts.open({
    id,
    browser,
    stage,
    content: await seal.content(content),
    expiresAt: content.startedAt + seconds * 1000,
  });
  const own = [...readCookies(request).keys()].filter((name) => name.startsWith(COOKIE));
  const tooMany = own.slice(0, Math.max(0, own.length - MAX_COOKIES + 1));
  return [cookie(cookieName(id), secret, seconds), ...tooMany.map(noCookie)];
}
