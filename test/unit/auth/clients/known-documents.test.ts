/** The copies of documents that stand in for well-known clients. */

import { describe, test } from "vitest";

import { parseClientDocument } from "../../../../src/auth/clients/client-document.ts";
import { judgeClientIdUrl } from "../../../../src/auth/clients/client-id-url.ts";
import { KNOWN_URLS, knownDocument } from "../../../../src/auth/clients/known-documents.ts";
import { redirectKind } from "../../../../src/auth/clients/redirect-uris.ts";

describe("known documents", () => {
  const codex = "https://chatgpt.com/oauth/codex/EDrLtgxAifwZ/client.json";

  test.for([...KNOWN_URLS, codex])(
    "that of %s is a client's, by our own rules",
    (url, { expect }) => {
      const id = String(url);
      expect(judgeClientIdUrl(id)).toBeUndefined();
      const outcome = parseClientDocument(id, knownDocument(id));
      if (outcome.kind !== "client") throw new Error(outcome.problem);
      expect(outcome.client.tokenEndpointAuthMethod).toBe("none");
      expect(outcome.client.grantTypes).toEqual(["authorization_code", "refresh_token"]);
      expect(outcome.client.redirectUris.map(redirectKind)).not.toContain("unused");
    },
  );

  test("are those of the clients that people use", ({ expect }) => {
    expect(KNOWN_URLS).toEqual([
      "https://claude.ai/oauth/mcp-oauth-client-metadata",
      "https://claude.ai/oauth/claude-code-client-metadata",
      "https://chatgpt.com/oauth/client.json",
      "https://chatgpt.com/oauth/codex/client.json",
      "https://vscode.dev/oauth/client-metadata.json",
      "https://zed.dev/oauth/client-metadata.json",
      "https://opencode.ai/oauth/opencode/client.json",
    ]);
  });

  test("that of Codex for one server has its id in the redirect URIs", ({ expect }) => {
    expect(knownDocument(codex)?.["redirect_uris"]).toEqual([
      "http://127.0.0.1/callback/EDrLtgxAifwZ",
      "http://localhost/callback/EDrLtgxAifwZ",
    ]);
  });

  test.for([
    "https://claude.ai/oauth/mcp-oauth-client-metadata/",
    "https://claude.com/oauth/mcp-oauth-client-metadata",
    "https://chatgpt.com/oauth/codex/a.b.c.d.e.f./client.json",
    "https://chatgpt.com/oauth/codex/EDrLtgxAifw/client.json",
    "https://chatgpt.com/oauth/codex/EDrLtgxAifwZZ/client.json",
    "https://chatgpt.com/oauth/codex/EDrLtgxAifwZ/client.json/x",
    "https://evil.example/https://chatgpt.com/oauth/codex/EDrLtgxAifwZ/client.json",
    "constructor",
  ])("there is none for %s", (url, { expect }) => {
    expect(knownDocument(url)).toBeUndefined();
  });
});
