// Tools that announce a change to everyone who listens: modern listen streams and legacy sessions.
// Nothing really changes; the announcement is what tests look for.

import type { McpServer } from "@modelcontextprotocol/server";
import { WATCHED_URI } from "../resources.ts";
import type { World } from "../world.ts";
import { text } from "./results.ts";

export function addChangeTools(server: McpServer, { bus }: World): void {
  server.registerTool(
    "test_trigger_tool_change",
    { description: "Announces a change of the tool list" },
    () => {
      bus.publish({ kind: "tools_list_changed" });
      return text("Announced a change of the tool list");
    },
  );

  server.registerTool(
    "test_trigger_prompt_change",
    { description: "Announces a change of the prompt list" },
    () => {
      bus.publish({ kind: "prompts_list_changed" });
      return text("Announced a change of the prompt list");
    },
  );

  server.registerTool(
    "test_touch_watched",
    { description: `Announces an update of ${WATCHED_URI} to its subscribers` },
    () => {
      bus.publish({ kind: "resource_updated", uri: WATCHED_URI });
      return text(`Announced an update of ${WATCHED_URI}`);
    },
  );
}
