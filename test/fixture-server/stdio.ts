// The fixture as a server that has nothing but stdio, in both eras. The tools for tasks are left out: the SDK has
// the wire of that extension, but serves it over HTTP alone.

import { InMemoryServerEventBus } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { buildServer } from "./server.ts";

const world = { bus: new InMemoryServerEventBus(), cancelledWaits: 0, holds: new Map() };
serveStdio(() => buildServer(world));
