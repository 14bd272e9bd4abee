// Builds one server instance with everything the fixture offers. The same instance serves either
// era: handlers ask for input with `inputRequired`, which the SDK turns into real requests for
// legacy clients.

import { McpServer } from "@modelcontextprotocol/server";
import { addPrompts } from "./prompts.ts";
import { addResources } from "./resources.ts";
import { requestState } from "./state-codec.ts";
import { addBurstTool } from "./tools/burst.ts";
import { addChangeTools } from "./tools/changes.ts";
import { addContentTools } from "./tools/content.ts";
import { addElicitationTools } from "./tools/elicitation.ts";
import { addInputRequiredTools } from "./tools/input-required.ts";
import { addNewerOutputTools } from "./tools/newer-output.ts";
import { addNotificationTools } from "./tools/notifications.ts";
import { addRequestStateTools } from "./tools/request-state.ts";
import { addSamplingAndRootsTools } from "./tools/sampling-and-roots.ts";
import { addSchemaTools } from "./tools/schemas.ts";
import { addWaitTools } from "./tools/wait.ts";
import type { World } from "./world.ts";

export function buildServer(world: World): McpServer {
  const server = new McpServer(
    { name: "edgeway-fixture", title: "Edgeway fixture server", version: "1.0.0" },
    {
      instructions: "A server for tests. Its tools do nothing useful.",
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      },
      requestState: { verify: (state, ctx) => requestState.verify(state, ctx) },
    },
  );
  // First in the list comes a tool without arguments: the suite calls whatever tools[0] is with {}.
  addContentTools(server);
  addNotificationTools(server);
  addSchemaTools(server);
  addNewerOutputTools(server);
  addElicitationTools(server);
  addSamplingAndRootsTools(server);
  addInputRequiredTools(server);
  addRequestStateTools(server);
  addChangeTools(server, world);
  addBurstTool(server);
  addWaitTools(server, world);
  addResources(server);
  addPrompts(server);
  return server;
}
