/** The lines of a socket within the gateway: in their order, and up to its end. */

import { describe, test } from "vitest";

import { SocketLines } from "../../../src/lib/socket-lines.ts";

const GONE_CODE = 4321;

class FakeSocket extends EventTarget {
  readonly sent: string[] = [];
  readonly closed: (number | undefined)[] = [];
  isAccepted = false;

  accept(): void {
    this.isAccepted = true;
  }
  send(line: string): void {
    this.sent.push(line);
  }
  close(code?: number): void {
    this.closed.push(code);
  }
  say(data: unknown): void {
    this.dispatchEvent(new MessageEvent("message", { data }));
  }
  end(type: "close" | "error" = "close"): void {
    this.dispatchEvent(new Event(type));
  }
}

function open(): { socket: FakeSocket; lines: SocketLines } {
  const socket = new FakeSocket();
  return { socket, lines: new SocketLines(socket as unknown as WebSocket, GONE_CODE) };
}

describe("lines", () => {
  test("come in their order, and binary ones not at all", async ({ expect }) => {
    const { socket, lines } = open();
    expect(socket.isAccepted).toBe(true);
    socket.say("a");
    socket.say(new ArrayBuffer(1));
    socket.say("b");
    expect([await lines.next(), await lines.next()]).toEqual(["a", "b"]);
    const next = lines.next();
    socket.say("c");
    expect(await next).toBe("c");
  });

  test.for(["close", "error"] as const)("are read up to a %s", async (type, { expect }) => {
    const { socket, lines } = open();
    socket.say("a");
    socket.end(type);
    expect([await lines.next(), await lines.next()]).toEqual(["a", undefined]);
    lines.send("late");
    lines.close();
    expect([socket.sent, socket.closed]).toEqual([[], []]);
  });

  test("that are waited for end when the reader has left", async ({ expect }) => {
    const { socket, lines } = open();
    const next = lines.next();
    lines.send("a");
    lines.close();
    lines.close();
    lines.send("late");
    expect(await next).toBeUndefined();
    expect([socket.sent, socket.closed]).toEqual([["a"], [GONE_CODE]]);
  });
});
