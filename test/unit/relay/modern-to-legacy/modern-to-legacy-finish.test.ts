/** The end of a legacy server's request on the modern wire, and its limits. */

import { describe, test } from "vitest";
import { finish, shownInfo } from "../../../../src/relay/modern-to-legacy/finish.ts";
import type { Reply } from "../../../../src/protocol/json-rpc.ts";

const ABOUT = {
  ...{ method: "tools/call", digest: "d", serverInfo: undefined },
  capabilities: { elicitation: { url: {} } },
};

function wants(pages: number): Reply {
  const elicitations = Array.from({ length: pages }, (_, n) => ({
    ...{ mode: "url", url: `https://a.test/${n}`, message: "Go", elicitationId: String(n) },
  }));
  return { error: { code: -32042, message: "Visit", data: { elicitations } } };
}

test("a client gets up to 32 URLs, and no more", ({ expect }) => {
  expect(finish(wants(32), ABOUT)).toMatchObject({ result: { resultType: "input_required" } });
  expect(finish(wants(33), ABOUT)).toMatchObject({ error: { message: "Visit" } });
});

describe("the server info in each result", () => {
  const named = { name: "s", version: "1" };

  test("is the server's name and version, and nothing else", ({ expect }) => {
    const shown = { ...named, title: "S", websiteUrl: "https://a.test/" };
    const info = { ...shown, description: "long", icons: [{ src: "data:," }], more: {} };
    expect(shownInfo(info)).toEqual(shown);
  });

  test("leaves out members that are too long, or no text", ({ expect }) => {
    expect(shownInfo({ ...named, title: "t".repeat(257), websiteUrl: 7 })).toEqual(named);
  });

  test.for([undefined, "s", {}, { name: "s" }, { ...named, name: "n".repeat(257) }])(
    "is absent for %j",
    (info, { expect }) => {
      expect(shownInfo(info)).toBeUndefined();
    },
  );
});
