/**
 * The stored data with which the provider of a sign-in is asked again: a text that contains a
 * secret.
 */

import { tryJson } from "../../lib/try-json.ts";
import { isObject } from "../../protocol/json-rpc.ts";
import type { Recheck } from "./provider.ts";
import { endsSignIn, SignInError } from "./sign-in-error.ts";

export interface Upkeep {
  readonly refreshToken?: string;
  readonly accessToken: string;
  /** In seconds since 1970; without it, only the provider knows when the access token ends. */
  readonly accessExpiresAt?: number;
}

export function upkeepOf({ refreshToken, accessToken, accessExpiresAt }: Upkeep): string {
  return JSON.stringify({ refreshToken, accessToken, accessExpiresAt });
}

export function parseUpkeep(upkeep: string | undefined): Upkeep | undefined {
  const value = upkeep === undefined ? undefined : tryJson(upkeep);
  if (!isObject(value)) return undefined;
  const { refreshToken, accessToken, accessExpiresAt } = value;
  if (typeof accessToken !== "string") return undefined;
  return {
    accessToken,
    ...(typeof refreshToken === "string" && { refreshToken }),
    ...(typeof accessExpiresAt === "number" && { accessExpiresAt }),
  };
}

export function isPast(seconds: number | undefined): boolean {
  return seconds !== undefined && seconds <= Date.now() / 1000;
}

/**
 * Judges a person by tokens that have just been renewed. The earlier refresh token may be invalid by
 * now, so the new one must not get lost, however the provider fails afterwards.
 */
export async function withRenewed(tokens: Upkeep, judge: () => Promise<Recheck>): Promise<Recheck> {
  const upkeep = upkeepOf(tokens);
  try {
    const verdict = await judge();
    return verdict.kind === "ended" ? verdict : { ...verdict, upkeep };
  } catch (error) {
    if (!(error instanceof SignInError) || endsSignIn(error)) throw error;
    return { kind: error.reason === "provider-unreachable" ? "alive" : "unavailable", upkeep };
  }
}
