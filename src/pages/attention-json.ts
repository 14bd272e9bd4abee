/**
 * `/admin/attention.json`: what needs somebody, for monitors. With an API key for the operator's pages, or in the
 * browser of an administrator.
 */

import { authenticate } from "../auth/resource/bearer.ts";
import { attentionIn } from "./attention.ts";
import { gather, type Reader } from "./attention-facts.ts";
import type { OperatorContext } from "./account-context.ts";
import { type AttentionItem, RANKS } from "./operator/attention-item.ts";
import { operating, type OperatorHandler, readerOf } from "./operator-visit.ts";
import { PATHS } from "./view/paths.ts";

export const showAttention: OperatorHandler = async (context, request, slug) => {
  const { auth } = context;
  const isBrowser = request.headers.has("cookie") || accepts(request, "text/html");
  if (auth === undefined || (isBrowser && !request.headers.has("authorization"))) {
    return asSession(context, request, slug);
  }
  // What administrators alone may see does not rely on cached checks of tokens.
  const limits = { ...auth.limits, bearerCacheSeconds: 0 };
  const authentication = await authenticate({ ...auth, limits }, request, PATHS.admin);
  if (authentication.kind === "refused") return authentication.response;
  const person = authentication.caller.bearer.user;
  const user = await auth.store.ofUser(person).users.find(person);
  const { hasAccounts = false, publishes = false } = user ?? {};
  return answer(context, { person, hasAccounts, publishes });
};

const asSession = operating(({ context, visitor }) => answer(context, readerOf(visitor)));

function accepts({ headers }: Request, type: string): boolean {
  return headers.get("accept")?.includes(type) === true;
}

async function answer(context: OperatorContext, reader: Reader): Promise<Response> {
  const known = await gather(context, reader);
  const items = attentionIn(known);
  const { notKnown } = known;
  const body = {
    count: items.length,
    items: items.map((item) => rowOf(item, context.origin)),
    ...(notKnown.length > 0 && { notKnown }),
  };
  const headers = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
  return Response.json(body, { headers });
}

function rowOf({ kind, subject, what, since, link }: AttentionItem, origin: string): object {
  return {
    ...{ rank: RANKS[kind], kind, subject, what },
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    link: origin + link,
  };
}
