/** API keys: created by a user who signed in a moment ago, shown once, and revoked. */

import type { Submission } from "./page-guard.ts";
import type { AuthContext } from "../auth/context/context.ts";
import { accountPage, keyOffer } from "./account.ts";
import { audited } from "./audited.ts";
import { type ChoiceError, formOf, readChoice } from "./credential-choice.ts";
import { submitted } from "./page-guard.ts";
import { done } from "./page-notices.ts";
import { notFound } from "./page-refusals.ts";
import { page } from "./respond.ts";
import { keyCreatedView } from "./view/account-keys-view.ts";
import { PATHS } from "./view/paths.ts";

const DAY_MS = 86_400_000;

export const createKey = submitted({ path: PATHS.account, isFresh: true }, make);

async function make(
  context: AuthContext,
  { who, form }: Submission,
  request: Request,
): Promise<Response> {
  const { user, session } = who;
  const { store, origin, limits } = context;
  const offer = keyOffer(context, user);
  const reading = readChoice(form, offer);
  const shard = store.ofUser(user.id);
  const again = (error: ChoiceError): Promise<Response> =>
    accountPage(context, who, {
      keyForm: formOf(offer, { choice: reading.choice, error }),
      status: 400,
    });
  if (reading.kind === "error") return again(reading.error);
  const { label, scopes, resources, days } = reading.choice;
  const now = Date.now();
  const made = await shard.keys.createWithin(limits.apiKeysPerUser, {
    kind: "sk",
    owner: user.id,
    label,
    scopes,
    resources,
    ...(session.codeMac !== undefined && { codeMac: session.codeMac }),
    expiresAt: now + days * DAY_MS,
  });
  if (made === undefined) {
    const sentence = `You have ${limits.apiKeysPerUser} keys: revoke one that you do not need.`;
    return again({ field: "label", sentence });
  }
  const { key, token } = made;
  await audited(context, request, user.id, ["key_created", { key: key.id, label }]);
  const [endpoint = ""] = resources;
  const { expiresAt } = key;
  const view = keyCreatedView({
    label,
    key: token,
    expiresAt,
    now,
    endpoint,
    isAdmin: user.isAdmin,
  });
  return page(view, { origin });
}

export const revokeKey = submitted(
  { path: PATHS.account },
  async (context, { who: { user }, form }, request) => {
    const id = form.get("id") ?? "";
    if (!(await context.store.ofUser(user.id).endKey(user.id, id))) return notFound(context);
    await audited(context, request, user.id, ["key_revoked", { key: id }]);
    return done(context.origin, PATHS.account, "key-revoked");
  },
);
