/** A call whose connection breaks while it runs, and which ends after that alone. */

import { randomUUID } from "node:crypto";

import type { Client, Json } from "../support/clients-face.ts";
import type { Wiretap } from "./wiretap.ts";

/**
 * @param client of the fixture, whose calls go by the wiretap.
 * @returns the result; its client hears of progress 1 before the break, and of 2 after it.
 */
export function cutInMidCall(client: Client, tap: Wiretap): Promise<Json> {
  const name = randomUUID();
  let isCut = false;
  const onprogress = (): void => {
    if (isCut) return;
    isCut = true;
    tap.cut("calls");
    // A call that fails shows in the one that it does not let go.
    client.callTool("test_release", { name }).catch(() => undefined);
  };
  return client.callTool("test_hold", { name }, { onprogress });
}
