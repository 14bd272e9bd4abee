/** The bundle for Claude Desktop, as a person downloads it from a gateway, unpacked and started as the application does. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { afterAll, beforeAll, describe, test } from "vitest";

import root from "../../package.json" with { type: "json" };
import schema from "../support/mcpb-manifest-v0.3.schema.json" with { type: "json" };
import { machineNode } from "../support/cli.ts";
import { ROOT } from "../support/process.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { unzip, type ZippedFile } from "../support/unzip.ts";

interface Manifest {
  readonly version: string;
  readonly server: {
    readonly type: string;
    readonly entry_point: string;
    readonly mcp_config: {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    };
  };
  readonly user_config: Readonly<
    Record<
      string,
      { readonly required: boolean; readonly sensitive?: true; readonly default?: string }
    >
  >;
}

let folder: string;
let downloaded: Buffer;
let files: readonly ZippedFile[];
let manifest: Manifest;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "edgeway-mcpb-"));
  const response = await fetch(`${sharedServers().gateway}/edgeway.mcpb`);
  downloaded = Buffer.from(await response.arrayBuffer());
  files = unzip(downloaded);
  for (const { path, bytes, mode } of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes, { mode: mode & 0o777 });
  }
  manifest = JSON.parse(files[0]?.bytes.toString() ?? "") as Manifest;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Replaces the variables of a manifest, as the reference implementation of MCPB does. */
function filled(text: string, answers: Readonly<Record<string, string>>): string {
  const values = new Map([["__dirname", folder]]);
  for (const [name, { default: usual }] of Object.entries(manifest.user_config)) {
    const answer = answers[name] ?? usual;
    if (answer !== undefined) values.set(`user_config.${name}`, answer);
  }
  return text.replaceAll(/\$\{([^}]+)\}/g, (whole, name: string) => values.get(name) ?? whole);
}

describe("the bundle for Claude Desktop", () => {
  test("is downloaded as a file, by GET alone", async ({ expect }) => {
    const url = `${sharedServers().gateway}/edgeway.mcpb`;
    const head = await fetch(url, { method: "HEAD" });
    expect(Object.fromEntries(head.headers)).toMatchObject({
      "content-disposition": 'attachment; filename="edgeway.mcpb"',
      "content-length": String(downloaded.byteLength),
      "x-content-type-options": "nosniff",
    });
    expect((await fetch(url, { method: "POST" })).status).toBe(405);
  });

  test("S19: has a manifest of version 0.3 and the command, and nothing else", ({ expect }) => {
    expect(files.map(({ path }) => path)).toEqual(["manifest.json", manifest.server.entry_point]);
    const judged = new AjvJsonSchemaValidator().getValidator(schema)(manifest);
    expect(judged).toMatchObject({ valid: true });
    expect(manifest).toMatchObject({ manifest_version: "0.3", version: root.version });
    expect(manifest).toHaveProperty("compatibility.runtimes", root.engines);
    expect(manifest.server.type).toBe("node");
  });

  test("S19: asks for the address, and has no secret in it", ({ expect }) => {
    const { url, key } = manifest.user_config;
    expect(url).toMatchObject({ required: true });
    expect(url).not.toHaveProperty("default");
    expect(key).toMatchObject({ required: false, sensitive: true, default: "" });
    // A key is no argument: other people of the machine can read those.
    expect(manifest.server.mcp_config.args.join(" ")).not.toContain("user_config");
    expect(downloaded.toString("latin1")).not.toMatch(/edgeway_[a-z]+_[a-z0-9]{8}/);
  });

  test("is made of the same bytes whenever it is packed", ({ expect }) => {
    const pack = `import { packMcpb } from "${ROOT}cli/pack-mcpb.mjs"; await packMcpb(process.argv[1]);`;
    const packed = ["one.mcpb", "two.mcpb"].map((name) => join(folder, name));
    for (const path of packed) {
      execFileSync(process.execPath, ["--input-type=module", "-e", pack, path]);
    }
    const [one, two] = packed.map((path) => readFileSync(path));
    expect(one?.equals(two ?? Buffer.alloc(0))).toBe(true);
    expect(one?.equals(downloaded)).toBe(true);
  });

  test("starts with node, and relays to the gateway whose address was given", async ({
    expect,
  }) => {
    const { mcp_config: config } = manifest.server;
    const answers = { url: `${sharedServers().gateway}/mcp/demo` };
    const env = Object.entries(config.env).map(([name, text]) => [name, filled(text, answers)]);
    expect(Object.fromEntries(env)).toEqual({ EDGEWAY_URL: answers.url, EDGEWAY_KEY: "" });
    expect(config.command).toBe("node");
    const transport = new StdioClientTransport({
      command: machineNode(),
      args: config.args.map((text) => filled(text, answers)),
      env: Object.fromEntries(env),
    });
    const client = new Client({ name: "desktop", version: "1" });
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("steeping_guide");
    const arguments_ = { tea: "oolong" };
    const result = await client.callTool({ name: "steeping_guide", arguments: arguments_ });
    expect(result).toHaveProperty("structuredContent");
    await client.close();
  });
});
