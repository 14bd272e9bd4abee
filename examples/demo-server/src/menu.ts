// A text resource, and a template: teahouse://tea/{tea} with completion of its variable.

import {
  type McpServer,
  ResourceNotFoundError,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { completeTea, TEA_IDS, TEAS, teaId } from "./teas.ts";

const MARKDOWN = "text/markdown";

export function registerMenu(server: McpServer): void {
  server.registerResource(
    "menu",
    "teahouse://menu",
    { title: "The menu", description: "All six teas on one page.", mimeType: MARKDOWN },
    (uri) => ({ contents: [{ uri: uri.href, mimeType: MARKDOWN, text: menu() }] }),
  );

  server.registerResource(
    "tea",
    new ResourceTemplate("teahouse://tea/{tea}", {
      // With a list, every tea also appears in resources/list.
      list: () => ({
        resources: TEA_IDS.map((id) => ({
          uri: `teahouse://tea/${id}`,
          name: TEAS[id].name,
          mimeType: MARKDOWN,
        })),
      }),
      complete: { tea: completeTea },
    }),
    {
      title: "One tea",
      description: "Where a tea is from and how to brew it.",
      mimeType: MARKDOWN,
    },
    (uri, variables) => {
      // The variable is whatever the client wrote into the address.
      const tea = teaId.safeParse(variables["tea"]);
      if (!tea.success) throw new ResourceNotFoundError(uri.href);
      return { contents: [{ uri: uri.href, mimeType: MARKDOWN, text: page(tea.data) }] };
    },
  );
}

function menu(): string {
  const rows = TEA_IDS.map((id) => `- **${TEAS[id].name}** (\`${id}\`): ${TEAS[id].note}`);
  return ["# The Lantern Teahouse", "", ...rows, "", "No coffee."].join("\n");
}

function page(id: (typeof TEA_IDS)[number]): string {
  const { name, origin, celsius, seconds, grams, moods, note } = TEAS[id];
  return [
    `# ${name}`,
    "",
    `From ${origin}. Tastes of ${note}.`,
    "",
    `Per cup: ${grams} g of leaves, ${celsius} °C, ${seconds} seconds.`,
    `Good when you are ${moods.join(" or ")}.`,
  ].join("\n");
}
