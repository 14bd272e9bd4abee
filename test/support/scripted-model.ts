/** A model that an agent talks to, by the API of Gemini: it calls one tool, and repeats what that returned. */

import { serveSite } from "./page-server.ts";

interface Part {
  readonly text?: string;
  readonly functionResponse?: { readonly name: string; readonly response: unknown };
}

interface Asked {
  readonly contents?: readonly { readonly parts?: readonly Part[] }[];
  readonly tools?: readonly { readonly functionDeclarations?: readonly { name: string }[] }[];
}

export interface ScriptedModel {
  readonly url: string;
  /** The names of the tools that the agent has offered. */
  readonly offered: ReadonlySet<string>;
  stop(): Promise<void>;
}

/** @param call the tool, as the agent names it. */
export async function startScriptedModel(call: {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}): Promise<ScriptedModel> {
  const offered = new Set<string>();
  const site = await serveSite((_, body) => {
    const { contents = [], tools = [] } = JSON.parse(body) as Asked;
    for (const { functionDeclarations = [] } of tools) {
      for (const { name } of functionDeclarations) offered.add(name);
    }
    const [result] = (contents.at(-1)?.parts ?? []).flatMap((part) => part.functionResponse ?? []);
    const said =
      result === undefined ? { functionCall: call } : { text: JSON.stringify(result.response) };
    const candidate = { content: { role: "model", parts: [said] }, finishReason: "STOP", index: 0 };
    const event = `data: ${JSON.stringify({ candidates: [candidate] })}\r\n\r\n`;
    return new Response(event, { headers: { "content-type": "text/event-stream" } });
  });
  return { url: site.origin, offered, stop: () => site.stop() };
}
