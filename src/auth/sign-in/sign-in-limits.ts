/** The limits on how often one address may begin to sign in, and cause loads of documents. */

import { addressOf, type AuthContext } from "../context/context.ts";
import type { Asker } from "../clients/client-documents.ts";

/** @returns how many seconds to wait; `undefined` when the request may go on. */
export function mayAsk(context: AuthContext, request: Request): Promise<number | undefined> {
  return take(context, `attempts:${addressOf(request)}`, context.limits.attemptsPerMinute);
}

/** The sender of the request, for whom a document is loaded. */
export function limitKeyOf(context: AuthContext, request: Request): Asker {
  const address = addressOf(request);
  const { documentsPerMinute } = context.limits;
  return {
    address,
    mayLoad: async () =>
      (await take(context, `documents:${address}`, documentsPerMinute)) === undefined,
  };
}

async function take(
  { store }: AuthContext,
  key: string,
  perMinute: number,
): Promise<number | undefined> {
  const waitSeconds = await store.ephemeral(key).limits.take(key, perMinute);
  return waitSeconds === 0 ? undefined : waitSeconds;
}
