/** A bounded look at a server that serves nobody yet: how it is spoken to, and what it offers. */

import { needsVault } from "../../accounts/settings.ts";
import type { Item } from "../../catalog/catalog.ts";
import { readCatalog } from "../../catalog/read/read-catalog.ts";
import { clientKind } from "../../endpoint/client-kind.ts";
import type { Server } from "../../endpoint/server.ts";
import { cleanText } from "../../lib/clean-text.ts";
import { abortAfter } from "../../lib/time-out.ts";
import type { OfferedNames, ProbeReport } from "../../observability/added-servers.ts";
import { logUnexpected } from "../../observability/unexpected.ts";
import type { Limits } from "../../policy/limits.ts";
import { LATEST_MODERN } from "../../protocol/revisions.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";

const PROBE_SECONDS = 10;
/** A row of the registry is bounded, and a page shows a few. */
const MAX_NAMES = 12;
const MAX_NAME_CHARS = 60;
const CLIENT = clientKind(LATEST_MODERN, { elicitation: { form: {}, url: {} } });

const BY_ACCOUNTS = "It is used with accounts alone, so no request was sent.";

/** It never rejects. */
export async function probe(server: Server, limits: Limits): Promise<ProbeReport> {
  const at = Date.now();
  // Without a credential no request goes to a server that demands accounts.
  if (needsVault(server.auth)) return { at, outcome: "login", message: BY_ACCOUNTS };
  const catalogSeconds = Math.min(limits.catalogSeconds, PROBE_SECONDS);
  try {
    const { catalog, found } = await abortAfter(PROBE_SECONDS * 1000, (signal) =>
      readCatalog(server, CLIENT, { ...limits, catalogSeconds }, signal),
    );
    const { tools, resources, templates, prompts } = catalog.lists;
    return {
      ...{ at, outcome: "reached", era: catalog.era },
      ...(found === undefined ? {} : { transport: found.transport }),
      offers: {
        tools: offered(tools),
        resources: offered(resources),
        templates: offered(templates),
        prompts: offered(prompts),
      },
    };
  } catch (error) {
    return { at, ...failureOf(error) };
  }
}

function offered(items: readonly Item[]): OfferedNames {
  const names = items.slice(0, MAX_NAMES).map(({ name }) => cleanText(name, MAX_NAME_CHARS));
  return { count: items.length, names };
}

function failureOf(error: unknown): Pick<ProbeReport, "outcome" | "message"> {
  if (error instanceof UpstreamError) {
    const { failure, message } = error;
    const wantsLogin = failure === "unauthorized" || failure === "account";
    return wantsLogin ? { outcome: "login" } : { outcome: "failed", message };
  }
  const isLate = error instanceof Error && error.message.startsWith("Not done in");
  if (!isLate) logUnexpected(error);
  return {
    outcome: "failed",
    message: isLate
      ? `It has not said what it offers within ${PROBE_SECONDS} seconds.`
      : "The gateway failed on the way to it.",
  };
}
