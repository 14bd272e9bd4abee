/** The port to the servers as whoever runs the gateway sees them: with their states, and what is wrong with each. */

import type { ServerAuth } from "../../accounts/settings.ts";
import type { ServerRegistry } from "./server-registry.ts";
import type { EntryNotice, ServerHealth, ServerReport } from "../../observability/health.ts";
import type { ItemPolicy } from "../../policy/item-policy.ts";
import type { ConsoleItem } from "../console/console.ts";

export interface GatewayServers {
  /** The entries of the configuration that are not served as they are written. */
  readonly notices: readonly EntryNotice[];
  /** Those that operators have added while the gateway runs. */
  readonly added: ServerRegistry;
  /** In the operator's order. Resolves soon with what is known, and never rejects. */
  health(): Promise<readonly ServerHealth[]>;
  /** @returns `undefined` for a server that is not served. */
  report(slug: string): Promise<NamedReport | undefined>;
  /** @returns when each was last called, by slug; `undefined` where no calls are recorded. */
  lastCalled(): Promise<ReadonlyMap<string, number> | undefined>;
  /** The switch of a server, as its page shows it. */
  switchOf(slug: string): Promise<ShownSwitch>;
  /** @param revision of what the operator saw. @returns `full` where no more can be kept. */
  putSwitch(
    slug: string,
    change: SwitchChange,
    revision: number,
  ): Promise<"changed" | "clash" | "full">;
  /**
   * The tools of a server, as it lists them to this person. Waits for a slow server as long as a list does.
   *
   * @returns `undefined` for a server that is not served.
   */
  tools(slug: string, person: string): Promise<ListedTools | undefined>;
  /** Looks at it now, and waits some seconds for that. Does nothing where there is no account to look with. */
  look(slug: string): Promise<void>;
}

export interface ShownSwitch {
  readonly isOff: boolean;
  /** The server's own names. */
  readonly deniedTools: readonly string[];
  /** 0 for one that nobody has touched. */
  readonly revision: number;
}

/** Switches a server off, or as its configuration has it; or does so with one of its tools. */
export type SwitchChange =
  | { readonly isOff: boolean }
  | { readonly tool: string; readonly isDenied: boolean };

export interface ListedTools {
  /** Whatever the policy says; absent where nobody knows them, or this person has no account there. */
  readonly items: readonly ConsoleItem[] | undefined;
  readonly policy: ItemPolicy;
}

/** What is known of a server, with what its configuration says. */
export interface NamedReport extends ServerReport {
  /** Without its query, which may have a secret in it. */
  readonly url: string;
  readonly auth: ServerAuth["kind"];
}
