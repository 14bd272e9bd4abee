/** A call whose connection breaks while it runs, and which ends after that alone. */

import { randomUUID } from "node:crypto";

import type { Client, Json } from "../support/clients-face.ts";
import type { Wiretap } from "./wiretap.ts";

/**
 * @param client of the fixture, whose calls go by the wiretap: this one, and the one that lets it go.
 * @returns the result; its client receives progress 1 before the break, and 2 after it.
 */
export async function cutInMidCall(client: Client, tap: Wiretap): Promise<Json> {
  const name = randomUUID();
  let release: Promise<unknown> | undefined;
  const onprogress = (): void => {
    if (release !== undefined) return;
    tap.cut("calls");
    release = client.callTool("test_release", { name });
    release.catch(() => undefined); // thrown below
  };
  const result = await client.callTool("test_hold", { name }, { onprogress });
  await release;
  return result;
}
