/** Arguments in headers: judged by the known list of tools, and by a new one before a request is refused. */

import { describe, test } from "vitest";
import { judgeParamHeaders, type ParamHeaderVerdict } from "../../../src/relay/relay-to-modern.ts";
import type { JsonObject } from "../../../src/protocol/json-rpc.ts";
import type { ParamBinding } from "../../../src/protocol/param-headers.ts";

const REGION: ParamBinding = { header: "mcp-param-region", path: ["region"] };
const TENANT: ParamBinding = { header: "mcp-param-tenant", path: ["tenant"] };
const EU = { "Mcp-Param-Region": "eu" };

interface Asked {
  readonly params?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** The known facts of the tool; `undefined` when it is not listed. */
  readonly known: readonly ParamBinding[] | undefined;
  /** The facts that the server lists when it is asked again. */
  readonly anew?: readonly ParamBinding[] | undefined;
  readonly isDoubted?: boolean;
}

async function judge(given: Asked): Promise<{
  readonly judged: ParamHeaderVerdict;
  readonly asked: (readonly [string, boolean])[];
}> {
  const { known, headers = EU, isDoubted = false } = given;
  const { params = { name: "work", arguments: { region: "eu" } } } = given;
  const anew = "anew" in given ? given.anew : known;
  const asked: (readonly [string, boolean])[] = [];
  const judged = await judgeParamHeaders(
    {
      message: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
      headers: new Headers(headers),
      toolFacts: (name, isAnew) => {
        asked.push([name, isAnew]);
        const bindings = isAnew ? anew : known;
        return Promise.resolve(bindings === undefined ? undefined : { bindings });
      },
    },
    isDoubted,
  );
  return { judged, asked };
}

describe("headers fit", () => {
  test("a tool that wants them", async ({ expect }) => {
    const { judged, asked } = await judge({ known: [REGION] });
    expect(judged).toEqual({ kind: "fits", bindings: [REGION] });
    expect(asked).toEqual([["work", false]]);
  });

  test.for<Asked & { name: string }>([
    { name: "that wants none, though some are there", known: [] },
    { name: "that is not listed", known: undefined },
    { name: "of no arguments", known: [REGION], params: { name: "work" }, headers: {} },
  ])("a tool $name", async (asked, { expect }) => {
    const { judged } = await judge(asked);
    expect(judged).toEqual({ kind: "fits", bindings: asked.known ?? [] });
  });

  test.for([{}, { name: 3 }, { name: null }])(
    "a call without a tool's name: %j, and no list is read",
    async (params, { expect }) => {
      const { judged, asked } = await judge({ params, known: [REGION], headers: {} });
      expect(judged).toEqual({ kind: "fits", bindings: [] });
      expect(asked).toEqual([]);
    },
  );

  test("a list that is newer than the one that is known", async ({ expect }) => {
    const { judged, asked } = await judge({ known: [REGION], anew: [TENANT], headers: {} });
    expect(judged).toEqual({ kind: "fits", bindings: [TENANT] });
    expect(asked).toEqual([
      ["work", false],
      ["work", true],
    ]);
  });

  test("a tool that is gone from it", async ({ expect }) => {
    const { judged } = await judge({ known: [REGION], anew: undefined, headers: {} });
    expect(judged).toEqual({ kind: "fits", bindings: [] });
  });
});

describe("headers do not fit", () => {
  test("either list, the known or the new one", async ({ expect }) => {
    const { judged, asked } = await judge({
      known: [REGION],
      headers: { "Mcp-Param-Region": "us" },
    });
    expect(judged).toMatchObject({ kind: "mismatch", reply: { error: { code: -32020 } } });
    expect(asked).toEqual([
      ["work", false],
      ["work", true],
    ]);
  });

  test("the list that is read again at once when the server has already refused", async ({
    expect,
  }) => {
    const { judged, asked } = await judge({ known: [], anew: [TENANT], isDoubted: true });
    expect(judged).toMatchObject({ kind: "fits", bindings: [TENANT] });
    expect(asked).toEqual([["work", true]]);
    const refused = await judge({ known: [], anew: [REGION], headers: {}, isDoubted: true });
    expect(refused.judged).toMatchObject({ reply: { error: { code: -32020 } } });
    expect(refused.asked).toEqual([["work", true]]);
  });
});
