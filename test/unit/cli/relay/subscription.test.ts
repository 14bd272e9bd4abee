import { test } from "vitest";

import { Subscription } from "../../../../cli/relay/subscription.ts";
import { readMessage, requestsOf } from "../../../../cli/stdio/message.ts";

const FILTER = {
  toolsListChanged: true,
  promptsListChanged: false,
  resourceSubscriptions: ["a:b"],
};

function subscriptionOf(id: string): Subscription {
  const text = `{"jsonrpc":"2.0","id":${id},"method":"subscriptions/listen"}`;
  const message = readMessage(text);
  const [request] = message === undefined ? [] : requestsOf(message);
  if (request === undefined) throw new Error("no request");
  return new Subscription(request);
}

function acknowledgement(id: string): string {
  const method = "notifications/subscriptions/acknowledged";
  return `{"jsonrpc":"2.0","method":"${method}","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":${id}},"notifications":${JSON.stringify(FILTER)}}}`;
}

test("what is listened to is announced in place of a second acknowledgement", ({ expect }) => {
  const id = "12345678901234567890";
  const subscription = subscriptionOf(id);
  expect(subscription.receive(acknowledgement(id))).toEqual([acknowledgement(id)]);
  const change = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}';
  expect(subscription.receive(change)).toEqual([change]);
  const meta = `"_meta":{"io.modelcontextprotocol/subscriptionId":${id}}`;
  expect(subscription.receive(acknowledgement(id))).toEqual([
    `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{${meta}}}`,
    `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{${meta},"uri":"a:b"}}`,
  ]);
});
