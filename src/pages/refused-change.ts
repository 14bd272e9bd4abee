/** Why a change of an added server was not kept, as a sentence. */

import type { ChangeOutcome } from "../observability/added-servers.ts";

/** @returns `undefined` for one that was kept. */
export function refusalOf(outcome: ChangeOutcome): string | undefined {
  switch (outcome.kind) {
    case "changed":
      return undefined;
    case "clash":
      return "It has changed since that page was loaded, so nothing was done. Load the page again.";
    case "full":
      return `There are ${outcome.most} added servers, and there may be no more.`;
    case "too-large":
      return `It has more than ${outcome.mostBytes} bytes.`;
  }
}
