/** Added servers as TOML: read back, they are what they were. */

import * as fc from "fast-check";
import { parse } from "smol-toml";
import { describe, test } from "vitest";

import { parseConfig } from "../../../../src/config/config.ts";
import { exportToml } from "../../../../src/config/registry/export-toml.ts";
import type { AddedServer } from "../../../../src/observability/added-servers.ts";

function server(slug: string, entry: AddedServer["entry"], more?: Partial<AddedServer>) {
  return {
    ...{ slug, state: "live", entry, secretNames: [], provenance: { kind: "url" } },
    ...{ changedBy: "p", changedAt: 0, ...more },
  } satisfies AddedServer as AddedServer;
}

function readBack(toml: string): Record<string, unknown> {
  const { vars } = parse(toml) as { vars: { MCP_SERVERS: Record<string, unknown> } };
  return vars.MCP_SERVERS;
}

const url = "https://a.example/mcp";

describe("added servers as TOML", () => {
  test("are read back as they were, whatever is in them", ({ expect }) => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      fc.constantFrom("\u007f", '"""', "'''", "\\", "a\nb\t", "# x", "]", "= {", "\u2028", "-0"),
    );
    const name = text.filter((key) => key !== "__proto__");
    const leaf = fc.oneof(text, fc.boolean(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        leaf,
        fc.integer(),
        fc.array(tie("tree")),
        fc.dictionary(name, tie("tree"), { noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(name, tree, { noNullPrototype: true }), (tools) => {
        const entry = { url, tools };
        const [read] = Object.values(readBack(exportToml([server("a", entry)]).toml));
        // Minus nought is nought in TOML's integers.
        expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(JSON.stringify(entry)));
      }),
    );
  });

  test("serve the same in MCP_SERVERS, with the secrets that are named", ({ expect }) => {
    const headers = { Authorization: "Bearer ${TOKEN}", "X-Region": "eu" };
    const servers = [
      server("my-github", { url, headers }, { label: "My GitHub" }),
      server("b", { url, headers }, { label: "Something else", state: "paused" }),
      server("c", { url: "https://c.example/mcp", headers }),
    ];
    const { toml, secrets } = exportToml(servers);
    expect(secrets).toEqual(["SERVER_MY_GITHUB_TOKEN", "SERVER_B_TOKEN", "SERVER_C_TOKEN"]);
    const parsed = parseConfig({
      ...{ AUTH_MODE: "none", MCP_SERVERS: readBack(toml) },
      ...Object.fromEntries(secrets.map((name) => [name, `<${name}>`])),
    });
    if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
    const { servers: served, notices } = parsed.config;
    expect([...served.values()].map(({ slug, label }) => [slug, label])).toEqual([
      ["my-github", "My GitHub"],
      ["c", undefined],
    ]);
    expect(served.get("c")?.target.headers).toEqual({
      Authorization: "Bearer <SERVER_C_TOKEN>",
      "X-Region": "eu",
    });
    expect(notices).toMatchObject([{ slug: "b", state: "off" }]);
  });

  test("never name a secret that the gateway has already", ({ expect }) => {
    const headers = { A: "${VAULT_SECRET}", B: "${SECRET:-x}", C: "${VAULT_SECRET}" };
    const { toml, secrets } = exportToml([
      server("vault", { url, headers }),
      server("vault-x", { url, headers: { A: "${C}" } }),
      server("vault", { url, headers: { A: "${X_C}" } }),
    ]);
    expect(toml).not.toMatch(/\$\{(?!SERVER_)/);
    expect(secrets).toEqual([
      ...["SERVER_VAULT_VAULT_SECRET", "SERVER_VAULT_SECRET"],
      ...["SERVER_VAULT_X_C", "SERVER_VAULT_X_C_2"],
    ]);
  });

  test("hold no sealed secret", ({ expect }) => {
    const { toml } = exportToml([
      server("a", { url }, { sealed: "v1.sealed", secretNames: ["T"] }),
    ]);
    expect(toml).toBe(`[vars.MCP_SERVERS.a]\nurl = "${url}"\n`);
  });
});
