/** Clients on SDK 1.12 compile the demo's schemas with an Ajv that knows draft-07 alone. */

import { createRequire } from "node:module";

import { endpointFor, test } from "../support/clients.ts";

/** The validator of the SDK, set up as SDK 1.12 did: it lets unknown keywords pass, and no unknown dialect. */
interface Ajv {
  compile(schema: object): (value: unknown) => boolean;
}
const ofTheSdk = createRequire(import.meta.resolve("@modelcontextprotocol/sdk/validation/ajv"));
const { Ajv } = ofTheSdk("ajv") as { Ajv: new (options: object) => Ajv };

interface Tool {
  readonly name: string;
  readonly inputSchema: object;
  readonly outputSchema?: object;
}

test("every schema of the demo compiles, and one that names another dialect does not", async ({
  connect,
  expect,
}) => {
  const validator = new Ajv({ strict: false });
  const dialect = { $schema: "https://json-schema.org/draft/2020-12/schema" };
  expect(() => validator.compile(dialect)).toThrow("no schema with key or ref");

  const client = await connect("v1-http", endpointFor("v1-http", "demo"));
  const { tools } = (await client.request("tools/list")) as { tools: readonly Tool[] };
  const schemas = tools.flatMap(({ inputSchema, outputSchema = [] }) =>
    [inputSchema, outputSchema].flat(),
  );
  expect(schemas.length).toBeGreaterThan(tools.length);
  for (const schema of schemas) validator.compile(schema);

  const guide = tools.find(({ name }) => name === "steeping_guide");
  const { structuredContent } = (await client.callTool("steeping_guide", { tea: "oolong" })) as {
    structuredContent: unknown;
  };
  expect(validator.compile(guide?.outputSchema ?? {})(structuredContent)).toBe(true);
});
