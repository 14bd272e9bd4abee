/** The ports of tests: each is handed out once. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { freePort } from "../support/free-port.ts";

test("a free port is returned only once, even though no process listens there yet", async () => {
  const port = await freePort();
  await expect(freePort(port, port + 1)).rejects.toThrow(`No port from ${port} to ${port} is free`);
});

test("a port that is in use is not returned until it is free again", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await expect(freePort(port, port + 1)).rejects.toThrow("is free");
  await new Promise((resolve) => server.close(resolve));
  await expect(freePort(port, port + 1)).resolves.toBe(port);
});
