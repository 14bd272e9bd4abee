/** Servers without the legacy era refuse `initialize` in many ways, so they are probed for their era. */

import { discover } from "./discover.ts";
import type { UpstreamTarget } from "../target.ts";
import { isOtherEra, UpstreamError } from "../upstream-error.ts";

/** @param error that a handshake of the legacy era ended in. */
export async function isModernOnly(error: unknown, target: UpstreamTarget): Promise<boolean> {
  if (isOtherEra(error)) return true;
  if (!(error instanceof UpstreamError)) return false;
  const { era, transport } = target;
  if (error.failure !== "malformed" || era === "legacy" || transport === "sse") return false;
  const verdict = await discover(target).catch(() => undefined); // the probe gave no evidence
  return verdict !== undefined && verdict.era !== "legacy";
}

export function modernOnly({ slug }: UpstreamTarget): UpstreamError {
  return new UpstreamError(slug, "other-era", "speaks only the modern era (2026-07-28 and later)");
}
