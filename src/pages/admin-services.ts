/** Service clients: created by an administrator, their secret shown once, and revoked. */

import type { Maker } from "../auth/store/api-keys.ts";
import { newServiceClientId } from "../auth/store/service-clients.ts";
import { adminPage, serviceOffer } from "./admin.ts";
import { audited } from "./audited.ts";
import { formOf, readChoice } from "./credential-choice.ts";
import { ADMIN_FORM, submitted } from "./page-guard.ts";
import { done } from "./page-notices.ts";
import { notFound } from "./page-refusals.ts";
import { page } from "./respond.ts";
import { serviceCreatedView } from "./view/admin-services-view.ts";
import { PATHS } from "./view/paths.ts";

export const createService = submitted(ADMIN_FORM, async (context, { who, form }, request) => {
  const { store, origin } = context;
  const offer = serviceOffer(context);
  const reading = readChoice(form, offer);
  if (reading.kind === "error") {
    return adminPage(context, who, { serviceForm: formOf(offer, reading), status: 400 });
  }
  const { label, scopes, resources } = reading.choice;
  const id = newServiceClientId();
  const { user, session } = who;
  const maker: Maker = {
    user: user.id,
    ...(session.codeMac !== undefined && { codeMac: session.codeMac }),
  };
  const made = await store.ofClient(id).services.create({ id, label, scopes, resources, maker });
  await audited(context, request, who.user.id, ["service_client_created", { client: id, label }]);
  const view = serviceCreatedView({
    label,
    clientId: id,
    secret: made.secret ?? "",
    tokenEndpoint: `${origin}/token`,
  });
  return page(view, { origin });
});

export const revokeService = submitted(
  ADMIN_FORM,
  async (context, { who: { user }, form }, request) => {
    const { store, origin } = context;
    const id = form.get("id") ?? "";
    if (!(await store.ofClient(id).services.remove(id))) return notFound(context);
    // Its issued tokens are keys that it owns.
    await store.ofUser(id).revokeEverything(id);
    await audited(context, request, user.id, ["service_client_revoked", { client: id }]);
    return done(origin, PATHS.admin, "service-revoked");
  },
);
