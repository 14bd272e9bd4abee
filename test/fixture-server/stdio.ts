// The fixture as a server that has nothing but stdio, in both eras. The tools for tasks are left out: the SDK has
// the wire of that extension, but serves it over HTTP alone.

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { buildServer } from "./server.ts";
import { forward } from "./sessions.ts";
import { newWorld } from "./world.ts";

const NOTHING_WATCHED: ReadonlySet<string> = new Set();
const world = newWorld();
serveStdio(() => {
  const server = buildServer(world);
  world.bus.subscribe((event) => forward(server, NOTHING_WATCHED, event));
  return server;
});
