/**
 * Numbers and texts arrive as they were sent, digit by digit, from each client at each server and back:
 * the bytes that the server saw and the bytes that the client saw are compared.
 */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { jsonText, plainText } from "../../unit/lib/any-json.ts";
import {
  CAPABILITIES_KEY,
  MODERN,
  post,
  Session,
  type SessionOptions,
  VERSION_KEY,
} from "../client.ts";
import { EventReader } from "../event-reader.ts";
import { EVENT_STREAM, streamOf, Upstream } from "../upstream.ts";
import type { Reaction } from "../../support/scripted-upstream-script.ts";

const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";
const ERAS = ["modern", "legacy"] as const;
type Era = (typeof ERAS)[number];
const PAIRINGS = ERAS.flatMap((client) => ERAS.map((server) => ({ client, server })));

const DATA = String.raw`{"n":[1187654321098765433,12345678901234567890,1e400,-0,1.0,0.10,1E5],"s":"a \"quoted\" \\ \u0001 text","__proto__":{"x":2.50},"deep":{"o":[[-0.0]]}}`;
const IDS = [
  ...["123456789012345678", "1187654321098765433", "1.0", "1e400", "-0"],
  String.raw`"a \"quoted\" \\ text, 1.0"`,
];

/** A client whose requests are texts. */
interface TextClient {
  readonly capabilities: string;
  /** @param params without its braces. */
  send(method: string, id: string, params: string, meta?: string): Promise<Response>;
  session?: Session;
}

async function clientOf(era: Era, upstream: Upstream, elicits = false): Promise<TextClient> {
  const capabilities = elicits ? '{"elicitation":{"form":{}}}' : "{}";
  if (era === "legacy") {
    const options: SessionOptions = { capabilities: JSON.parse(capabilities) as object as never };
    const session = await Session.open(upstream.mcp, options);
    return {
      capabilities,
      session,
      send: (method, id, params, meta = "") =>
        post(
          upstream.mcp,
          `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params},"_meta":{"x":1${meta}}}}`,
          session.headers,
        ),
    };
  }
  return {
    capabilities,
    send: (method, id, params, meta = "") =>
      post(
        upstream.mcp,
        `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params},"_meta":{"${VERSION_KEY}":"${MODERN}","${CAPABILITIES_KEY}":${capabilities}${meta}}}}`,
        { "MCP-Protocol-Version": MODERN, "Mcp-Method": method, "Mcp-Name": "work" },
      ),
  };
}

function call(client: TextClient, id: string, args: string, meta = ""): Promise<Response> {
  return client.send("tools/call", id, `"name":"work","arguments":${args}`, meta);
}

/** The texts of an answer, of a stream or alone. */
async function textsIn(response: Response): Promise<readonly string[]> {
  if (response.headers.get("content-type") !== EVENT_STREAM["Content-Type"]) {
    return [await response.text()];
  }
  const events = await new EventReader(response).rest();
  return events.map(({ data }) => data).filter((data) => data !== "");
}

async function textSent(upstream: Upstream, method = "tools/call"): Promise<string> {
  const [record] = await upstream.receives(method);
  return record?.text ?? "";
}

function eventText(message: string): string {
  return `data: ${message}\n\n`;
}

function resultText(result: string): string {
  return `{"jsonrpc":"2.0","id":"{{id}}","result":${result}}`;
}

function answering(server: Era, reaction: Reaction): Promise<Upstream> {
  return Upstream.take({ server, reactions: { "tools/call": [reaction] } });
}

function jsonAnswer(text: string): Reaction {
  return { headers: { "Content-Type": "application/json" }, pieces: [text] };
}

describe.for(PAIRINGS)("a $client client at a $server server", ({ client, server }) => {
  test.for(IDS)("is answered with its id %s, and its token", async (id, { expect }) => {
    const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"{{token}}","progress":1.0,"total":1e400}}`;
    const upstream = await answering(
      server,
      streamOf(eventText(progress), eventText(resultText('{"content":[]}'))),
    );
    const from = await clientOf(client, upstream);
    const texts = await textsIn(await call(from, id, "{}", `,"progressToken":${id}`));
    expect(texts[0]).toContain(`"params":{"progressToken":${id},"progress":1.0,"total":1e400}`);
    expect(texts[1]).toContain(`"id":${id},"result":`);
    expect(await textSent(upstream)).not.toContain(`"id":${id}`);
  });

  test("sends and gets every number and text as it is", async ({ expect }) => {
    const log = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${DATA}}}`;
    const result = `{"content":[{"type":"text","text":"ran","_meta":{"m":${DATA}}}],"structuredContent":${DATA},"_meta":{"example.org/r":${DATA}}}`;
    const upstream = await answering(
      server,
      streamOf(eventText(log), eventText(resultText(result))),
    );
    const from = await clientOf(client, upstream);
    await from.session?.request("logging/setLevel", { level: "debug" });
    const meta = `,"example.org/q":${DATA},"${LOG_LEVEL_KEY}":"debug"`;
    const [logged, answer] = await textsIn(await call(from, "7", DATA, meta));
    const sent = await textSent(upstream);
    expect(sent).toContain(`"arguments":${DATA}`);
    expect(sent).toContain(`"example.org/q":${DATA}`);
    expect(logged).toContain(`"data":${DATA}`);
    expect(answer).toContain(`"_meta":{"m":${DATA}}`);
    expect(answer).toContain(`"structuredContent":${DATA}`);
    expect(answer).toContain(`"example.org/r":${DATA}`);
  });

  test("gets the data of an error as it is", async ({ expect }) => {
    const error = `{"jsonrpc":"2.0","id":"{{id}}","error":{"code":-31999,"message":"no","data":${DATA}}}`;
    const upstream = await answering(server, jsonAnswer(error));
    const [answer] = await textsIn(await call(await clientOf(client, upstream), "1.0", "{}"));
    expect(answer).toContain('"id":1.0,"error":{"code":-31999,"message":"no","data":');
    expect(answer).toContain(`"data":${DATA}`);
  });

  test("reads a schema as the server wrote it", async ({ expect }) => {
    const schema = `{"type":"object","properties":{"n":{"type":"number","default":1e400,"maximum":1.0,"enum":[-0,12345678901234567890]}}}`;
    const listed = `{"tools":[{"name":"work","inputSchema":${schema},"_meta":{"m":${DATA}}}]}`;
    const upstream = await Upstream.take({
      server,
      reactions: { "tools/list": [{ ...jsonAnswer(resultText(listed)), isLasting: true }] },
    });
    const from = await clientOf(client, upstream);
    const [answer] = await textsIn(await from.send("tools/list", "1", '"y":1'));
    expect(answer).toContain(`"inputSchema":${schema}`);
    expect(answer).toContain(`"_meta":{"m":${DATA}}`);
  });

  test("sends and gets any JSON as it is", async ({ expect }) => {
    const upstream = await Upstream.take({ server });
    const from = await clientOf(client, upstream);
    let calls = 0;
    await fc.assert(
      fc.asyncProperty(jsonText, jsonText, async (args, result) => {
        const answer = resultText(`{"content":[],"structuredContent":{"v":${result}}}`);
        await upstream.script({ server, reactions: { "tools/call": [jsonAnswer(answer)] } });
        const [text = ""] = await textsIn(await call(from, "1", `{"v":${args}}`));
        const sent = (await upstream.receives("tools/call", ++calls)).at(-1)?.text ?? "";
        expect(sent).toContain(`"arguments":{"v":${plainText(args)}}`);
        expect(text).toContain(`"structuredContent":{"v":${plainText(result)}}`);
      }),
      { numRuns: 25, endOnFailure: true },
    );
  });
});
