/** `/callback/<provider>`: an identity provider redirects the browser back. */

import type { AuthContext } from "../auth/context/context.ts";
import { handleCallback } from "../auth/sign-in/handle-callback.ts";
import { answer } from "./sign-in-answers.ts";

const PATH = /^\/callback\/([a-z0-9-]{1,24})$/;

export async function showCallback(context: AuthContext, request: Request): Promise<Response> {
  const [, name = ""] = PATH.exec(new URL(request.url).pathname) ?? [];
  return answer(context, await handleCallback(context, request, name));
}
