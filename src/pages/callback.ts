/** `/callback/<provider>`: a sign-in provider sends the browser back. */

import type { AuthContext } from "../auth/context.ts";
import { comeBack } from "../auth/sign-in/come-back.ts";
import { answer } from "./sign-in-answers.ts";

const PATH = /^\/callback\/([a-z0-9-]{1,24})$/;

export async function showCallback(context: AuthContext, request: Request): Promise<Response> {
  const [, name = ""] = PATH.exec(new URL(request.url).pathname) ?? [];
  return answer(context, await comeBack(context, request, name));
}
