/** The actions of the forms of `/admin`, for an administrator who signed in a moment ago. */

import type { AuthContext } from "../auth/context/context.ts";
import { audited } from "./audited.ts";
import { ADMIN_FORM, submitted, type Submission } from "./page-guard.ts";
import { done } from "./page-notices.ts";
import { notFound, notYourself } from "./page-refusals.ts";
import { PATHS } from "./view/paths.ts";

export const disableUser = submitted(ADMIN_FORM, (context, { who, form }, request) =>
  form.get("id") === who.user.id
    ? Promise.resolve(notYourself(context))
    : setDisabled(context, { who, form }, request, true),
);

export const enableUser = submitted(ADMIN_FORM, (context, submission, request) =>
  setDisabled(context, submission, request, false),
);

async function setDisabled(
  context: AuthContext,
  { who, form }: Submission,
  request: Request,
  isDisabled: boolean,
): Promise<Response> {
  const id = form.get("id") ?? "";
  const { store } = context;
  if (!(await store.ofUser(id).setDisabled(id, isDisabled))) return notFound(context);
  if (isDisabled) await endServicesOf(store, id);
  const event = isDisabled ? "user_disabled" : "user_enabled";
  await audited(context, request, id, [event, { by: who.user.id }]);
  return done(context.origin, PATHS.admin, isDisabled ? "user-disabled" : "user-enabled");
}

/**
 * The service clients of a disabled administrator are no longer served; their tokens and streams
 * end at once.
 */
async function endServicesOf(store: AuthContext["store"], maker: string): Promise<void> {
  const lists = await Promise.all(store.allOfClients().map((shard) => shard.services.list()));
  const made = lists.flat().filter((client) => client.maker?.user === maker);
  await Promise.all(made.map(({ id }) => store.ofUser(id).revokeEverything(id)));
}

/** Deletes an application: its registration, and all its grants and approvals. */
export const deleteClient = submitted(
  ADMIN_FORM,
  async (context, { who: { user }, form }, request) => {
    const { store, origin } = context;
    const client = form.get("id") ?? "";
    const endAll = (): Promise<readonly number[]> =>
      Promise.all(store.allOfUsers().map((shard) => shard.endClient(client)));
    // The registration is deleted last: until then the application stays on the page, and the
    // deletion can be repeated if not everything has ended. Grants that began meanwhile end after
    // it.
    const ended = await endAll();
    const wasRegistered = await store.ofClient(client).rows.delete(`client:${client}`);
    if (wasRegistered) await endAll();
    else if (ended.every((grants) => grants === 0)) return notFound(context);
    await audited(context, request, user.id, ["client_deleted", { client }]);
    return done(origin, PATHS.admin, "client-deleted");
  },
);
