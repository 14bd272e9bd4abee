/** Two readings of what a person publishes that overlap. */

import { env } from "cloudflare:workers";
import { test } from "vitest";

import { SessionPublishing } from "../../../durable-objects/session-publishing.ts";
import type { SessionStore } from "../../../durable-objects/session-store.ts";
import type { Config } from "../../../src/config/config.ts";
import type { PublishedNames } from "../../../src/sessions/session-id.ts";

interface PublishedList {
  readonly version: number;
  readonly servers: readonly { readonly name: string }[];
}

test("the list of now stays, also when an earlier one arrives after it", async ({ expect }) => {
  const answers: ((list: PublishedList) => void)[] = [];
  // As the object of the person, which answers when the test says so.
  const list = (): Promise<PublishedList> => new Promise((resolve) => answers.push(resolve));
  const CONNECTORS = { getByName: () => ({ list }) } as unknown as Env["CONNECTORS"];
  const known: { person: string; published?: PublishedNames } = { person: "ann" };
  const learn = (change: object): void => void Object.assign(known, change);
  let changes = 0;
  const publishing = new SessionPublishing(
    { ...env, CONNECTORS },
    { isPublishingOn: true } as Config,
    { known, learn } as unknown as SessionStore,
    () => (changes += 1),
  );
  const reads = [publishing.read(), publishing.read()];
  answers[1]?.({ version: 2, servers: [{ name: "files" }] });
  await reads[1];
  answers[0]?.({ version: 1, servers: [] });
  await reads[0];
  expect(publishing.names).toEqual({ version: 2, names: ["files"] });
  expect(changes).toBe(1);
});
