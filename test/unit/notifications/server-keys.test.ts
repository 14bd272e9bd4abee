/** The interests of a subscriber, as the fan-out has them. */

import { test } from "vitest";

import type { Endpoint } from "../../../src/endpoint/endpoint.ts";
import { byKey, isOfNews } from "../../../src/notifications/server-keys.ts";
import { fakeServer } from "../endpoint/fake-server.ts";

const ENDPOINT: Endpoint = { servers: [fakeServer("a")], isMerged: true, keepsNames: false };

test("who has servers of a person says of which version, as it was when it asked", async ({
  expect,
}) => {
  let version = 3;
  const asked = byKey(ENDPOINT, { a: ["tools"] }, { person: "ann", version: () => version });
  version = 4;
  expect(await asked).toEqual({ a: ["tools"], "published/ann": ["tools", "version:3"] });
});

test("who knows of no version is told of what comes and goes", async ({ expect }) => {
  const publisher = { person: "ann" };
  expect(await byKey(ENDPOINT, { a: ["tools"] }, publisher)).toEqual({
    a: ["tools"],
    "published/ann": ["tools"],
  });
  expect(await byKey(ENDPOINT, { a: ["uri:x"] }, publisher)).toEqual({ a: ["uri:x"] });
});

test("who has learned nothing newer than the news names has not learned what it is of", ({
  expect,
}) => {
  const news = { slug: "servers/", seq: 1, topics: ["version:2", "version:3"] } as const;
  expect([undefined, 2, 3, 4].map((version) => isOfNews(version, news))).toEqual([
    ...[false, false, false, true],
  ]);
});
