/** The accounts of one owner at the servers that demand one: a person's, or those that all share. */

import { DurableObject } from "cloudflare:workers";

import type {
  AccountSummary,
  BeginOutcome,
  ConnectOffer,
  FinishOutcome,
} from "../src/accounts/vault.ts";
import { count } from "../src/observability/costs.ts";
import type { AccountNeed, Credential } from "../src/upstream/credentials.ts";

const NOT_CONNECTED: AccountNeed = { kind: "need", need: "connect", reason: "not-connected" };

export class VaultObject extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
  }

  async account(): Promise<string | undefined> {
    return undefined;
  }

  async credential(): Promise<Credential> {
    return NOT_CONNECTED;
  }

  async lacking(): Promise<AccountNeed> {
    return NOT_CONNECTED;
  }

  async connected(): Promise<boolean> {
    return false;
  }

  async accounts(): Promise<readonly AccountSummary[]> {
    return [];
  }

  async offer(): Promise<ConnectOffer> {
    return { kind: "problem", problem: { code: "no-account-needed" } };
  }

  async begin(): Promise<BeginOutcome> {
    return { kind: "problem", problem: { code: "no-account-needed" } };
  }

  async finish(): Promise<FinishOutcome> {
    return { kind: "unknown" };
  }

  async enterKey(): Promise<FinishOutcome> {
    return { kind: "problem", problem: { code: "no-account-needed" } };
  }

  async disconnect(): Promise<"disconnected" | "none"> {
    return "none";
  }

  async disconnectAll(): Promise<void> {
    await Promise.resolve();
  }
}
