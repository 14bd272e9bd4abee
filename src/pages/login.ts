/** `/login`: a person signs in, on the way to an application or to the gateway's own pages. */

import type { AuthContext } from "../auth/context/context.ts";
import { logIn } from "../auth/sign-in/log-in.ts";
import { enterSignIn } from "../auth/sign-in/enter-sign-in.ts";
import { attemptForm } from "./authorize.ts";
import { answer } from "./sign-in-answers.ts";

export async function showLogin(context: AuthContext, request: Request): Promise<Response> {
  return answer(context, await enterSignIn(context, request));
}

export const answerLogin = attemptForm(logIn);
