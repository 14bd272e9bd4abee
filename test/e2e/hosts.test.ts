/**
 * Real hosts that start `edgeway connect` themselves: MCP Inspector's command line, in both eras, and an agent, whose
 * model is scripted.
 */

import { beforeAll, describe, test as base } from "vitest";

import { connectCommand, type HostCommand } from "../support/cli.ts";
import { endpointFor } from "../support/clients.ts";
import { GATEWAY, HostFolder, installHosts } from "../support/hosts.ts";
import { startScriptedModel } from "../support/scripted-model.ts";

beforeAll(() => {
  installHosts();
});

// oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
const test = base.extend("folder", async ({}, { onCleanup }): Promise<HostFolder> => {
  const folder = await HostFolder.make();
  onCleanup(() => folder.remove());
  return folder;
});

function command(): HostCommand {
  return connectCommand(endpointFor("v2-modern", "fixture"), {});
}

describe.each(["legacy", "modern"] as const)("MCP Inspector, %s,", (era) => {
  test("lists tools, calls one with arguments, and reads a resource and a prompt", async ({
    expect,
    folder,
  }) => {
    const inspect = (...options: string[]): Promise<unknown> =>
      folder.inspect(command(), era, ...options);
    const call = ["--method", "tools/call", "--tool-name"];
    expect(await inspect("--method", "tools/list")).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: "test_simple_text" })]),
    });
    expect(JSON.stringify(await inspect(...call, "test_simple_text"))).toContain("simple text");
    const uri = "test://static-text";
    expect(await inspect("--method", "resources/read", "--uri", uri)).toMatchObject({
      contents: [{ uri }],
    });
    expect(
      await inspect("--method", "prompts/get", "--prompt-name", "test_simple_prompt"),
    ).toHaveProperty("messages");
  });
});

test("Gemini CLI offers the tools to its model, calls the one that the model wants, and shows it the result", async ({
  expect,
  folder,
  onTestFinished,
}) => {
  const name = `mcp_${GATEWAY}_test_x_mcp_header`;
  const model = await startScriptedModel({ name, args: { region: "Grüße", priority: 7 } });
  onTestFinished(() => model.stop());
  const said = await folder.prompt(command(), model.url, "Use the tool");
  expect(model.offered).toContain(name);
  expect(said).toContain("region=Grüße priority=7");
});
