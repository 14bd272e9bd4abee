/** How each client hears that a person has to connect an account. */

import { describe, test } from "vitest";

import {
  connectElicitation,
  connectInput,
  type NeedAnswer,
  needOf,
  refusal,
  takesConnectElicitation,
  takesConnectInput,
} from "../../../../src/dispatch/accounts/connect-answer.ts";
import { clientKind } from "../../../../src/endpoint/client-kind.ts";
import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import type { Revision } from "../../../../src/protocol/revisions.ts";
import type { AccountNeed } from "../../../../src/upstream/credentials.ts";

const URL = "https://mcp.example.com/connect/notion?e=abc";
const CONNECT: AccountNeed = { kind: "need", need: "connect", reason: "not-connected", ask: "abc" };

function answer(
  revision: Revision,
  capabilities: JsonObject,
  method = "tools/call",
  need: AccountNeed = CONNECT,
): NeedAnswer {
  const client = clientKind(revision, capabilities);
  return { need, label: "Notion", slug: "notion", url: URL, client, method, now: 1000 };
}

const TEXT = `Notion needs you to connect your account to continue. Open this page in a browser, and then try again:\n${URL}`;

describe("U54 a client of 2026-07-28 that opens pages", () => {
  test("is asked to open one", ({ expect }) => {
    const asked = answer("2026-07-28", { elicitation: { url: {} } });
    expect(takesConnectInput(asked)).toBe(true);
    expect(connectInput(asked)).toEqual({
      resultType: "input_required",
      inputRequests: {
        connect: {
          method: "elicitation/create",
          params: {
            mode: "url",
            url: URL,
            message: "Notion needs you to connect your account to continue.",
          },
        },
      },
    });
  });

  test("never gets -32042", ({ expect }) => {
    const asked = answer("2026-07-28", { elicitation: { url: {} } });
    expect(takesConnectElicitation(asked)).toBe(false);
    const reply = refusal(asked);
    expect(reply).toMatchObject({ result: { isError: true, resultType: "complete" } });
  });
});

describe("U55 a client of 2025-11-25 that opens pages", () => {
  test.for(["tools/call", "prompts/get", "resources/read", "completion/complete"])(
    "gets -32042 for %s",
    (method, { expect }) => {
      const asked = answer("2025-11-25", { elicitation: { url: {} } }, method);
      expect(takesConnectElicitation(asked)).toBe(true);
      expect(connectElicitation(asked, "abc")).toEqual({
        error: {
          code: -32042,
          message: TEXT,
          data: {
            elicitations: [
              {
                mode: "url",
                elicitationId: "abc",
                url: URL,
                message: "Notion needs you to connect your account to continue.",
              },
            ],
          },
        },
      });
    },
  );

  test.for(["resources/subscribe", "logging/setLevel"])(
    "is not asked by %s",
    (method, { expect }) => {
      const asked = answer("2025-11-25", { elicitation: { url: {} } }, method);
      expect(takesConnectElicitation(asked)).toBe(false);
      const reply = refusal(asked);
      expect(reply).toMatchObject({ error: { code: -32603, message: TEXT } });
    },
  );
});

const OTHERS: readonly (readonly [Revision, JsonObject])[] = [
  ["2025-11-25", { elicitation: {} }],
  ["2025-11-25", {}],
  ["2025-06-18", { elicitation: {} }],
  ["2025-03-26", {}],
  ["2024-11-05", {}],
  ["2026-07-28", {}],
  ["2026-07-28", { elicitation: { form: {} } }],
];

describe("U56 every other client", () => {
  test.for(OTHERS)(
    "%s %j reads the URL in the tool's error",
    ([revision, capabilities], { expect }) => {
      const asked = answer(revision, capabilities);
      expect(takesConnectInput(asked) || takesConnectElicitation(asked)).toBe(false);
      const reply = refusal(asked);
      expect(reply).toMatchObject({
        result: { content: [{ type: "text", text: TEXT }], isError: true },
      });
      expect(TEXT.match(/https?:/g)).toHaveLength(1);
    },
  );

  test.for(OTHERS)(
    "U57 %s %j reads it in the error of other requests",
    ([revision, caps], { expect }) => {
      expect(refusal(answer(revision, caps, "prompts/get"))).toEqual({
        error: {
          code: -32603,
          message: TEXT,
          data: { upstream: "notion", reason: "account", account: "not-connected" },
        },
      });
    },
  );
});

describe("U66 the account that all share", () => {
  const shared: AccountNeed = { kind: "need", need: "operator", reason: "ended", isShared: true };

  test("is an administrator's to connect, and nobody else's", ({ expect }) => {
    const theirs = answer("2025-06-18", {}, "tools/call", needOf(shared, true));
    expect(JSON.stringify(refusal(theirs))).toContain(
      `Notion needs you, as an administrator, to connect the account that all share. Open this page`,
    );
    expect(needOf(shared)).toEqual(shared);
    expect(needOf(shared, false)).toEqual(shared);
  });

  test("is not what an administrator connects where a setting is wrong", ({ expect }) => {
    const { isShared: _, ...wrong } = shared;
    expect(needOf(wrong, true)).toEqual(wrong);
  });
});

describe("what no person can repair has no link", () => {
  test.for<[AccountNeed["need"], string]>([
    [
      "operator",
      "Notion cannot be used at the moment: its login has to be repaired by the operator of this gateway (x).",
    ],
    ["forbidden", "Your account at Notion does not allow this."],
    ["later", "The login of Notion is not answering at the moment; try again in 5 s."],
  ])("%s", ([need, text], { expect }) => {
    const asked = answer("2025-11-25", { elicitation: { url: {} } }, "tools/call", {
      kind: "need",
      need,
      reason: "x",
      until: 5001,
    });
    expect(
      takesConnectInput({
        ...asked,
        client: clientKind("2026-07-28", { elicitation: { url: {} } }),
      }),
    ).toBe(false);
    expect(refusal(asked)).toEqual({
      result: { content: [{ type: "text", text }], isError: true },
    });
  });
});
