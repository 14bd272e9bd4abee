/** Twelve configurations as clients write them: what can be served is, and the rest is named. */

import { describe, test } from "vitest";

import { type Config, parseConfig } from "../../../../src/config/config.ts";
import { EXPECTED, FILES, SECRET, SECRETS } from "../../../support/client-maps.ts";

/** @throws Error when the gateway as a whole is refused. */
function pasted(file: string): Config {
  const parsed = parseConfig({
    AUTH_MODE: "none",
    ...SECRETS,
    MCP_SERVERS: FILES[`./client-maps/${file}`],
  });
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  return parsed.config;
}

function patternsOf(globs: readonly { pattern: string }[] | undefined): unknown {
  return globs?.map(({ pattern }) => pattern);
}

describe("pasted in", () => {
  test("every file has its expectations", ({ expect }) => {
    const names = Object.keys(FILES).map((path) => path.replace("./client-maps/", ""));
    expect(names.toSorted()).toEqual(Object.keys(EXPECTED).toSorted());
    expect(names).toHaveLength(12);
  });

  test.for(Object.entries(EXPECTED))("%s", ([file, expected], { expect }) => {
    const { servers, notices } = pasted(file);
    expect([...servers.keys()]).toEqual(Object.keys(expected.served));
    for (const [slug, target] of Object.entries(expected.served)) {
      expect(servers.get(slug)?.target).toMatchObject(target);
      expect(servers.get(slug)?.label).toBe(expected.labels?.[slug]);
    }
    for (const [slug, { allow, deny = [] }] of Object.entries(expected.tools ?? {})) {
      const { tools } = servers.get(slug) ?? {};
      expect([patternsOf(tools?.allow), patternsOf(tools?.deny)]).toEqual([allow, deny]);
    }
    expect(Object.fromEntries(notices.map(({ slug, state }) => [slug, state]))).toEqual(
      Object.fromEntries(Object.entries(expected.named).map(([slug, [state]]) => [slug, state])),
    );
    expect(notices).toHaveLength(Object.keys(expected.named).length);
    for (const { slug = "", sentences } of notices) {
      expect(sentences.join(" ")).toContain(expected.named[slug]?.[1]);
      expect(sentences.join(" ")).not.toContain(SECRET);
      for (const sentence of sentences) expect(sentence).toMatch(/^MCP_SERVERS\.[^\n]+\.$/);
    }
  });
});
