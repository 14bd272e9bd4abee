// The resources: a text, a binary, a template, and one that can be watched for updates.

import { ResourceTemplate } from "@modelcontextprotocol/server";
import type { McpServer } from "@modelcontextprotocol/server";
import { PNG } from "./samples.ts";

export const WATCHED_URI = "test://watched-resource";

export function addResources(server: McpServer): void {
  server.registerResource(
    "static-text",
    "test://static-text",
    { title: "Static text", description: "A text that never changes", mimeType: "text/plain" },
    ({ href: uri }) => ({
      contents: [
        { uri, mimeType: "text/plain", text: "This is the content of the static text resource." },
      ],
    }),
  );

  server.registerResource(
    "static-binary",
    "test://static-binary",
    { title: "Static binary", description: "An image of one pixel", mimeType: "image/png" },
    ({ href: uri }) => ({ contents: [{ uri, mimeType: "image/png", blob: PNG }] }),
  );

  server.registerResource(
    "watched-resource",
    WATCHED_URI,
    {
      title: "Watched resource",
      description: "Subscribe to it, then call test_touch_watched to get an update",
      mimeType: "text/plain",
    },
    ({ href: uri }) => ({ contents: [{ uri, mimeType: "text/plain", text: "Watched content" }] }),
  );

  server.registerResource(
    "template-data",
    new ResourceTemplate("test://template/{id}/data", {
      list: undefined,
      complete: { id: (value) => ["123", "124", "456"].filter((id) => id.startsWith(value)) },
    }),
    {
      title: "Data by id",
      description: "Repeats the id of its URI",
      mimeType: "application/json",
    },
    ({ href: uri }, { id }) => ({
      contents: [
        {
          uri,
          mimeType: "application/json",
          text: JSON.stringify({ id, data: `Data for ${String(id)}` }),
        },
      ],
    }),
  );
}
