/** Which redirect URIs a client may list, and which of them a code may go to. */

import { describe, test } from "vitest";

import {
  isUsed,
  judgeRedirectUris,
  type RedirectKind,
  redirectKind,
} from "../../../../src/auth/clients/redirect-uris.ts";

const CALLBACK = "https://a.client.example/cb";

describe("redirect URIs", () => {
  const kinds: Record<Exclude<RedirectKind, "refused">, readonly string[]> = {
    https: [
      "https://a.client.example/cb",
      "https://a.client.example:8443/cb?x=1",
      `https://a.client.example/${"x".repeat(2048 - 25)}`,
    ],
    loopback: [
      "http://localhost/callback",
      "http://127.0.0.1:33418/",
      "http://127.9.9.9/cb",
      "http://[::1]:1/cb",
      "https://localhost:8443/callback",
      "https://127.0.0.1/cb",
    ],
    application: ["cursor://anysphere.cursor-mcp/oauth/callback"],
    unused: [
      "http://a.client.example/cb",
      "http://0.0.0.0/cb",
      "http://localhost.client.example/cb",
      "com.example.app:/cb",
      "windsurf://codeium.windsurf/callback",
      "vscode://anysphere.cursor-mcp/oauth/callback",
      // Almost one of those that are used.
      "cursor://anysphere.cursor-mcp/oauth/callback/",
      "cursor://anysphere.cursor-mcp/oauth/callback?x=1",
      "cursor://anysphere.cursor-mcp/oauth/%63allback",
      "cursor://anysphere.cursor-mcp:1/oauth/callback",
      "cursor://anysphere.cursor-mcp/oauth",
      "cursor://evil.example/oauth/callback",
      "CURSOR://anysphere.cursor-mcp/oauth/callback",
    ],
  };
  test.for(
    Object.entries(kinds).flatMap(([kind, uris]) => uris.map((uri) => [uri, kind] as const)),
  )("%s is %s", ([uri, kind], { expect }) => {
    expect(redirectKind(uri)).toBe(kind);
    expect(isUsed(uri)).toBe(kind !== "unused");
  });

  const refused = [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "mailto:a@client.example",
    "blob:https://a.client.example/1",
    "filesystem:https://a.client.example/x",
    "about:blank",
    "https://a.client.example/cb#x",
    "https://a.client.example/cb#",
    "https://u:p@a.client.example/cb",
    "https://u@a.client.example/cb",
    "https://:p@a.client.example/cb",
    "https://*.client.example/cb",
    "https://x;sandbox,default-src/cb",
    "https://a.client.example/cb\n",
    " https://a.client.example/cb",
    "https://a.client.example/c b",
    "https://a.client.example\\@b.client.example/cb",
    "https://а.client.example/cb", // a Cyrillic letter
    "/cb",
    "cb",
    "",
    `https://a.client.example/${"x".repeat(2048 - 24)}`,
  ];
  test.for(refused)("%j may not be listed", (uri, { expect }) => {
    expect([redirectKind(uri), isUsed(uri)]).toEqual(["refused", false]);
    expect(judgeRedirectUris([CALLBACK, uri])).toBe("bad-redirect-uri");
  });

  test("one that cannot be used may stand beside one that can, and not alone", ({ expect }) => {
    for (const uri of kinds.unused) {
      expect(judgeRedirectUris([uri, CALLBACK])).toBeUndefined();
      expect(judgeRedirectUris([uri, "http://127.0.0.1/cb"])).toBeUndefined();
      expect(judgeRedirectUris([uri])).toBe("bad-redirect-uri");
    }
    expect(judgeRedirectUris(kinds.application)).toBeUndefined();
    expect(judgeRedirectUris([])).toBe("no-redirect-uris");
  });
});
