/** The gate of each server in an isolate: it is kept for as long as the server is called. */

import { test } from "vitest";

import { type Gate, gateOf } from "../../../../src/dispatch/guard/gate.ts";
import type { Server } from "../../../../src/endpoint/server.ts";
import { defaultLimits } from "../../../../src/policy/limits.ts";
import { fakeServer } from "../../endpoint/fake-server.ts";

const gateAt = (server: Server): Gate => gateOf(server, defaultLimits(), () => 0);

test("the gate of a server that is called stays, whatever else is called meanwhile", ({
  expect,
}) => {
  const busy = fakeServer("busy");
  const gate = gateAt(busy);
  for (let n = 0; n < 2000; n++) {
    gateAt(fakeServer(`published-${n}`));
    expect(gateAt(busy)).toBe(gate);
  }
});
