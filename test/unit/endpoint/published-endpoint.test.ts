/** The endpoint of a person who publishes servers at a gateway that has none of its own. */

import { test } from "vitest";

import { type Configured, pickEndpoint, type Picked } from "../../../src/endpoint/endpoint.ts";
import { withPublished } from "../../../src/endpoint/published-endpoint.ts";
import { fakeServer } from "./fake-server.ts";

const NOTHING: Configured = { servers: new Map(), notices: [] };
const PUBLISHING = {
  person: "ann",
  names: ["files"],
  serverOf: (_: string, name: string) => fakeServer(`my-${name}`),
};

function endpointAt(configured: Configured): Picked {
  return withPublished(pickEndpoint(configured, undefined), undefined, PUBLISHING);
}

test("it has the version of the servers that operators have added: its listeners hear of the first one", ({
  expect,
}) => {
  expect(endpointAt(NOTHING)).toMatchObject({ endpoint: { version: 0, isPartial: true } });
  const added = { version: 3, settledAt: 9, isAny: true, plain: undefined };
  const paused = endpointAt({ ...NOTHING, added });
  expect(paused).toMatchObject({ endpoint: { version: 3, settledAt: 9 } });
  expect(paused).not.toHaveProperty("endpoint.isPartial");
});
