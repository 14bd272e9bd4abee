/**
 * What a person's application does in each scenario of the official suite for clients: it speaks to the gateway, in
 * both eras, and the gateway to the server that the suite plays.
 */

import { defaultAnswers } from "../support/clients-answers.ts";
import type { Client, ConnectOptions, Json } from "../support/clients-face.ts";
import type { Scenario } from "./client-suite.ts";

/** @param open an application in front of the gateway. */
export type Act = (open: Open, scenario: Scenario) => Promise<void>;
type Open = (options?: ConnectOptions) => Promise<Client>;

interface Tool {
  readonly name: string;
  readonly inputSchema: Json;
}

/** As they come over the wire: an SDK drops what it does not know. */
async function listed(client: Client): Promise<readonly Tool[]> {
  const { tools } = await client.request("tools/list");
  return tools as Tool[];
}

const list: Act = async (open) => void (await listed(await open()));

const callAll: Act = async (open) => {
  const client = await open();
  for (const { name } of await listed(client)) await client.callTool(name);
};

/** Scenarios of servers that want nothing of their clients but the protocol. */
export const ACTS: Readonly<Record<string, Act>> = {
  initialize: list,

  tools_call: async (open) => {
    const client = await open();
    await listed(client);
    await client.callTool("add_numbers", { a: 5, b: 3 });
  },

  "elicitation-sep1034-client-defaults": callAll,

  "sse-retry": callAll,

  "request-metadata": list,

  "sep-2322-client-request-state": async (open) => {
    const client = await open({
      answers: {
        // Between the rounds of one call, another call has nothing of it.
        elicitation: async (params) => {
          await client.callTool("test_mrtr_unrelated");
          return defaultAnswers.elicitation(params);
        },
      },
    });
    await listed(client);
    for (const name of ["echo_state", "no_state", "no_result_type"]) {
      await client.callTool(`test_mrtr_${name}`);
    }
  },

  "http-standard-headers": async (open, scenario) => {
    await callAll(open, scenario);
    const client = await open();
    const { resources } = await client.request("resources/list");
    for (const { uri } of resources as { readonly uri: string }[]) {
      await client.request("resources/read", { uri });
    }
    const { prompts } = await client.request("prompts/list");
    for (const { name } of prompts as { readonly name: string }[]) {
      await client.request("prompts/get", { name });
    }
  },

  "http-custom-headers": async (open, { context }) => {
    const client = await open();
    await client.listTools();
    const calls = context["toolCalls"] as { readonly name: string; readonly arguments: Json }[];
    for (const call of calls) await client.callTool(call.name, call.arguments);
  },

  "http-invalid-tool-headers": callAll,

  "json-schema-ref-no-deref": list,

  "json-schema-2020-12-preservation": async (open) => {
    const client = await open();
    const tool = (await listed(client)).find(({ name }) => name === "json_schema_2020_12_tool");
    await client.callTool("json_schema_echo", { schema: tool?.inputSchema });
  },
};
