// Tools that return one kind of content each, one that mixes them, and one that fails.

import type { McpServer } from "@modelcontextprotocol/server";
import { PNG, WAV } from "../samples.ts";
import { failure, text } from "./results.ts";

export function addContentTools(server: McpServer): void {
  server.registerTool("test_simple_text", { description: "Returns a text" }, () =>
    text("This is a simple text response for testing."),
  );

  server.registerTool("test_image_content", { description: "Returns an image" }, () => ({
    content: [{ type: "image", data: PNG, mimeType: "image/png" }],
  }));

  server.registerTool("test_audio_content", { description: "Returns a sound" }, () => ({
    content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }],
  }));

  server.registerTool("test_embedded_resource", { description: "Returns a resource" }, () => ({
    content: [
      {
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      },
    ],
  }));

  server.registerTool(
    "test_multiple_content_types",
    { description: "Returns a text, an image and a resource" },
    () => ({
      content: [
        { type: "text", text: "Multiple content types test:" },
        { type: "image", data: PNG, mimeType: "image/png" },
        {
          type: "resource",
          resource: {
            uri: "test://mixed-content-resource",
            mimeType: "application/json",
            text: JSON.stringify({ test: "data", value: 123 }),
          },
        },
      ],
    }),
  );

  server.registerTool("test_error_handling", { description: "Always fails" }, () =>
    failure("This tool intentionally returns an error for testing"),
  );
}
