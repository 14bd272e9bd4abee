/** The provider's one page with one form: who are you? Its answer signs in and consents. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import type { Provider } from "oidc-provider";

/** @param isKnown whether a person of this name exists. */
export async function serveInteraction(
  provider: Provider,
  isKnown: (name: string) => boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { params, uid } = await provider.interactionDetails(request, response);
  const form = new URLSearchParams(request.method === "POST" ? await text(request) : "");
  const accountId = form.get("login") ?? "";
  if (form.has("cancel")) {
    await provider.interactionFinished(request, response, { error: "access_denied" });
  } else if (isKnown(accountId)) {
    const grant = new provider.Grant({ accountId, clientId: params["client_id"] ?? "" });
    grant.addOIDCScope(params["scope"] ?? "");
    const consent = { grantId: await grant.save() };
    await provider.interactionFinished(request, response, { login: { accountId }, consent });
  } else {
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(page(uid));
  }
}

const page = (uid: string): string => `<!doctype html>
<html lang="en"><title>Test provider</title>
<h1>Test provider</h1>
<form method="post" action="/interaction/${uid}">
<label>User name <input name="login" autofocus></label>
<button>Sign in</button>
<button name="cancel" value="yes">Cancel</button>
</form></html>
`;
