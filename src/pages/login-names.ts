/** The name of the application behind an attempt to connect. */

import type { LoginTrace } from "../auth/trace/trace.ts";
import { clientOf } from "../auth/trace/trace-key.ts";

export function clientNameOf({ key, steps }: LoginTrace): string {
  const names = steps.flatMap(({ step }) => ("name" in step ? [step.name] : []));
  const name = names.findLast((each) => each !== undefined && each !== "");
  const client = clientOf(key);
  if (name !== undefined || client !== undefined) return name ?? client ?? "";
  return steps.some(({ step }) => step.kind === "signed_in" || step.kind === "sign_in_refused")
    ? "The pages of this gateway"
    : (steps[0]?.agent ?? "");
}
