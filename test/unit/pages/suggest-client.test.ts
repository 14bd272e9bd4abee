/** The client that a person sees first: by the application they look out of, what they connected, and where they are. */

import { describe, test } from "vitest";

import { type ConnectedClient, suggestClient } from "../../../src/pages/suggest-client.ts";

const CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/153.0.0.0 Safari/537.36";
const inApplication = (name: string): string => `${CHROME} ${name} Electron/41.0.0`;
const called = (name: string, createdAt = 1, usedAt?: number): ConnectedClient => ({
  ...{ name, createdAt },
  ...(usedAt !== undefined && { usedAt }),
});
const nobody = { agent: CHROME, connected: [], isPublic: true };

describe("the client that is suggested", () => {
  test.for([
    ["Cursor/2.1.0", "cursor"],
    ["Kiro/1.0.2", "kiro"],
    ["Claude/1.7.0", "claude"],
    ["ChatGPT/1.2026.1", "chatgpt"],
    ["Code/1.120.0", "vs-code"],
    ["Code - Insiders/1.121.0", "vs-code"],
  ] as const)("is the application that the page is open in: %s", ([name, id], { expect }) => {
    const suggestion = { ...nobody, connected: [called("goose")] };
    expect(suggestClient({ ...suggestion, agent: inApplication(name) })).toBe(id);
  });

  test.for([
    ["Claude", "claude"],
    ["claudeai", "claude"],
    ["Claude Code (edgeway)", "claude-code"],
    ["ChatGPT", "chatgpt"],
    ["Perplexity", "perplexity"],
    ["Visual Studio Code", "vs-code"],
    ["Cursor", "cursor"],
    ["Kiro", "kiro"],
    ["LM Studio", "lm-studio"],
    ["goose", "goose"],
    ["Gemini CLI MCP Client", "gemini-cli"],
    ["Codex", "codex"],
    ["Windsurf", "devin"],
    ["MCP Inspector", "inspector"],
    ["Edgeway on laptop", "stdio"],
  ] as const)("is one that was connected before: %s", ([name, id], { expect }) => {
    expect(suggestClient({ ...nobody, connected: [called(name)] })).toBe(id);
  });

  test("is the one that was used last, of those that are known here", ({ expect }) => {
    const connected = [called("Cursor", 1, 50), called("Codex", 40), called("Somebody’s own", 90)];
    expect(suggestClient({ ...nobody, connected })).toBe("cursor");
    expect(suggestClient({ ...nobody, connected: [called("x", 1), called("y", 2)] })).toBe(
      "claude",
    );
  });

  test("is one that can reach the gateway, where nothing else is known", ({ expect }) => {
    expect(suggestClient(nobody)).toBe("claude");
    expect(suggestClient({ ...nobody, isPublic: false })).toBe("claude-code");
    expect(suggestClient({ ...nobody, agent: "" })).toBe("claude");
  });
});
