/**
 * Numbers and texts arrive as they were sent, digit by digit, from each client at each server and back:
 * the bytes that the server saw and the bytes that the client saw are compared.
 */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { jsonText, plainText } from "../../unit/lib/any-json.ts";
import { streamOf, Upstream } from "../upstream.ts";
import {
  answering,
  call,
  clientOf,
  DATA,
  type Era,
  eventText,
  jsonAnswer,
  noticeText,
  resultText,
  textSent,
  textsIn,
} from "./raw-texts.ts";

const ERAS: readonly Era[] = ["modern", "legacy"];
const PAIRINGS = ERAS.flatMap((client) => ERAS.map((server) => ({ client, server })));
const IDS = [
  ...["123456789012345678", "1187654321098765433", "1.0", "1e400", "-0"],
  String.raw`"a \"quoted\" \\ text, 1.0"`,
];
const LOG_LEVEL = `,"io.modelcontextprotocol/logLevel":"debug"`;

describe.for(PAIRINGS)("a $client client at a $server server", ({ client, server }) => {
  test.for(IDS)("is answered with its id %s, and its token", async (id, { expect }) => {
    const progress = `{"progressToken":"{{token}}","progress":1.0,"total":1e400}`;
    const upstream = await answering(
      server,
      streamOf(
        eventText(noticeText("progress", progress)),
        eventText(resultText('{"content":[]}')),
      ),
    );
    const from = await clientOf(client, upstream);
    const meta = `,"progressToken":${id}`;
    const [heard, answer] = await textsIn(await call(from, id, "{}", { meta }));
    expect(heard).toContain(`"params":{"progressToken":${id},"progress":1.0,"total":1e400}`);
    expect(answer).toContain(`"id":${id},"result":`);
    // Neither crosses to the server.
    expect(await textSent(upstream, "tools/call")).not.toContain(`:${id}`);
  });

  test("sends and gets every number and text as it is", async ({ expect }) => {
    const log = noticeText("message", `{"level":"info","data":${DATA}}`);
    const content = `[{"type":"text","text":"ran","_meta":{"m":${DATA}}}]`;
    const result = `{"content":${content},"structuredContent":${DATA},"_meta":{"example.org/r":${DATA}}}`;
    const upstream = await answering(
      server,
      streamOf(eventText(log), eventText(resultText(result))),
    );
    const from = await clientOf(client, upstream);
    await from.session?.request("logging/setLevel", { level: "debug" });
    const meta = `,"example.org/q":${DATA}${LOG_LEVEL}`;
    const [logged, answer] = await textsIn(await call(from, "7", DATA, { meta }));
    const sent = await textSent(upstream, "tools/call");
    expect(sent).toContain(`"arguments":${DATA}`);
    expect(sent).toContain(`"example.org/q":${DATA}`);
    expect(logged).toContain(`"data":${DATA}`);
    expect(answer).toContain(`"_meta":{"m":${DATA}}`);
    expect(answer).toContain(`"structuredContent":${DATA}`);
    expect(answer).toContain(`"example.org/r":${DATA}`);
  });

  test("gets the data of an error as it is", async ({ expect }) => {
    const error = `{"jsonrpc":"2.0","id":"{{id}}","error":{"code":-31999.0,"message":"no","data":${DATA}}}`;
    const upstream = await answering(server, jsonAnswer(error));
    const [answer] = await textsIn(await call(await clientOf(client, upstream), "1.0", "{}"));
    expect(answer).toContain(`"id":1.0,"error":{"code":-31999,"message":"no","data":${DATA}`);
  });

  test("reads a schema as the server wrote it", async ({ expect }) => {
    const schema = `{"type":"object","properties":{"n":{"type":"number","default":1e400,"maximum":1.0,"enum":[-0,12345678901234567890]}}}`;
    const listed = `{"tools":[{"name":"work","inputSchema":${schema},"_meta":{"m":${DATA}}}]}`;
    const reaction = { ...jsonAnswer(resultText(listed)), isLasting: true } as const;
    const upstream = await Upstream.take({ server, reactions: { "tools/list": [reaction] } });
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
        const [text] = await textsIn(await call(from, "1", `{"v":${args}}`));
        const sent = await textSent(upstream, "tools/call", ++calls);
        expect(sent).toContain(`"arguments":{"v":${plainText(args)}}`);
        expect(text).toContain(`"structuredContent":{"v":${plainText(result)}}`);
      }),
      { numRuns: 25, endOnFailure: true },
    );
  });
});
