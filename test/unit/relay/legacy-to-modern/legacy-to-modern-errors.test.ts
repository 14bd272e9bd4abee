/** Errors of a modern server, as a legacy client gets them. */

import { describe, test } from "vitest";

import { AskedPeer } from "../../protocol/revisions/asked-peer.ts";
import { behind, CALL, failing, never } from "./legacy-to-modern-fixture.ts";

const reply = (error: object, method = "tools/call", status = 200): Promise<unknown> => {
  const { server } = behind([failing({ message: "m", ...error }, status)]);
  return server.request({ method, params: { uri: "a:b" } }, new AskedPeer(), never);
};

const lacking = (text: string): object => ({
  result: { content: [{ type: "text", text: `Upstream "fake" ${text}` }], isError: true },
});

describe("an error", () => {
  test("of a missing capability names it, to the model", async ({ expect }) => {
    const requiredCapabilities = { sampling: { tools: {} }, elicitation: { url: {} }, SECRET: {} };
    const error = { code: -32021, message: "SECRET", data: { requiredCapabilities } };
    expect(await reply(error, "tools/call", 400)).toEqual(
      lacking("needs sampling with tools, which this client has not declared"),
    );
    for (const data of [undefined, {}, { requiredCapabilities: { SECRET: {} } }]) {
      expect(await reply({ code: -32021, message: "SECRET", data })).toEqual(
        lacking("needs something, which this client has not declared"),
      );
    }
    expect(await reply(error, "resources/read", 400)).toEqual({
      error: {
        code: -32603,
        message: 'Upstream "fake" needs sampling with tools, which this client has not declared',
      },
    });
  });

  test("of a missing resource has the code of its revision", async ({ expect }) => {
    const error = { code: -32602, message: "m", data: { uri: "a:b" } };
    expect(await reply(error, "resources/read")).toEqual({ error: { ...error, code: -32002 } });
    expect(await reply(error, "prompts/get")).toEqual({ error });
  });

  test.for([-32601, -32602, -32603, -1, 42])("%d is the server's own", async (code, { expect }) => {
    expect(await reply({ code, data: [1] })).toEqual({ error: { code, message: "m", data: [1] } });
  });

  test.for([
    { code: -32022, status: 400, isStray: true },
    { code: -32000, status: 400, isStray: true },
    { code: -32022, status: 200, isStray: false },
    { code: -32000, status: 200, isStray: false },
    { code: -32602, status: 400, isStray: false },
  ])(
    "$code with $status shows another era: $isStray",
    async ({ code, status, isStray }, { expect }) => {
      const { server, sent } = behind([failing({ code, message: "m" }, status)]);
      expect(await server.request(CALL, new AskedPeer(), never)).toHaveProperty("error");
      // It answers everything so: also what asks for its era, and then the handshake of the other era.
      expect(sent.some(({ body }) => body["method"] === "initialize")).toBe(isStray);
    },
  );
});
