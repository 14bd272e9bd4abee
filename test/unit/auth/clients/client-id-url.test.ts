/** The spelling of a metadata document's URL. */

import { describe, test } from "vitest";

import { judgeClientIdUrl } from "../../../../src/auth/clients/client-id-url.ts";

describe("judgeClientIdUrl()", () => {
  test.for([
    "https://a.client.example/client.json",
    "https://a.client.example/oauth/a-b_c.d~e/%20x",
    "https://a.client.example/a//b;c=[1]@2/",
    `https://a.client.example/${"x".repeat(512 - 25)}`,
  ])("takes %s", (id, { expect }) => {
    expect(judgeClientIdUrl(id)).toBeUndefined();
  });

  test.for([
    ["", "characters"],
    [`https://a.client.example/${"x".repeat(512 - 24)}`, "longer"],
    ["https://a.client.example/x\n[ERROR] forged", "characters"],
    ["https://a.client.example/x\u0000", "characters"],
    ["https://a.client.example/x y", "characters"],
    [" https://a.client.example/x", "characters"],
    ["https://а.client.example/x", "characters"], // a Cyrillic letter
    ["http://a.client.example/x", "not an https"],
    ["HTTPS://a.client.example/x", "not an https"],
    ["a.client.example/x", "not an https"],
    ["https://a.client.example/x?y", "query or a fragment"],
    ["https://a.client.example/x?", "query or a fragment"],
    ["https://a.client.example/x#y", "query or a fragment"],
    ["https://a.client.example/x#", "query or a fragment"],
    ["https://a.client.example/%0A[ERROR]", "broken escapes"],
    ["https://a.client.example/%1f", "broken escapes"],
    ["https://a.client.example/%7F", "broken escapes"],
    ["https://a.client.example/%zz", "broken escapes"],
    ["https://a.client.example/100%", "broken escapes"],
    ["https://A.client.example/x", "not spelt"],
    ["https://a.client.example:443/x", "not spelt"],
    ["https://a.client.example", "not spelt"],
    ["https://a.client.example/a/../x", "not spelt"],
    ["https://a.client.example/./x", "not spelt"],
    ["https://a.client.example/a/%2e%2E/x", "not spelt"],
    ["https://a.client.example/a/..", "not spelt"],
    ["https://a.client.example\\x", "not spelt"],
    ["https:/a.client.example/x", "not an https"],
    ["https:///a.client.example/x", "not spelt"],
    ["https://2130706433/x", "not spelt"],
    ["https://0x7f.1/x", "not spelt"],
    ["https://@a.client.example/x", "not spelt"],
    ['https://a.client.example/"x"', "not spelt"],
    ["https:// /x", "characters"],
    ["https://[/x", "not spelt"],
    ["https://u@a.client.example/x", "credentials"],
    ["https://:p@a.client.example/x", "credentials"],
    ["https://a.client.example/", "no path"],
  ])("refuses %j: %s", ([id = "", word = ""], { expect }) => {
    expect(judgeClientIdUrl(id)).toContain(word);
  });
});
