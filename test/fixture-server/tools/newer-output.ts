// Tools whose results older revisions have no words for: structured content that is no object, and
// a link to a resource.

import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

export function addNewerOutputTools(server: McpServer): void {
  server.registerTool(
    "test_structured_list",
    {
      description: "Returns structured content that is an array, and nothing else",
      outputSchema: z.array(z.string()),
    },
    () => ({ content: [], structuredContent: ["wind", "snow"] }),
  );

  server.registerTool(
    "test_resource_link",
    { description: "Returns a link to a resource" },
    () => ({
      content: [
        {
          type: "resource_link",
          uri: "test://static-text",
          name: "static-text",
          mimeType: "text/plain",
        },
      ],
    }),
  );
}
