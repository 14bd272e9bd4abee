// @ts-nocheck -- as asking.mjs
/** WebSockets: their ends, and the sleep beside them. */

import { connect, meanwhile, outcome, rest, seenBy, settled, until, Witness } from "./asking.mjs";

export class Sockets extends Witness {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    this.seen.push(`made beside ${ctx.getWebSockets().length}`);
  }

  async fetch(request) {
    if (request.url.endsWith("late")) {
      this.seen.push("waits");
      request.signal.addEventListener("abort", () => this.seen.push("aborted"));
      await meanwhile();
      this.seen.push("accepts");
    }
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server, ["tagged", "second"]);
    server.serializeAttachment({ mark: 1 });
    server.send("before it is accepted");
    if (request.url.endsWith("closed")) server.close(4000, "at once");
    return new Response(null, { status: 101, webSocket: client });
  }

  async webSocketMessage(socket, data) {
    this.seen.push(`message ${data}, ${socket.deserializeAttachment().mark}`);
    if (data === "close") {
      socket.close(4001, "as asked");
      this.seen.push(`after close: ${socket.readyState}`);
      try {
        socket.send("too late");
      } catch (error) {
        this.seen.push(`send throws ${error.name}`);
      }
      this.seen.push(`listed: ${this.sockets().join()}`);
      socket.close(4002, "twice");
    } else if (data === "wait") {
      await meanwhile();
      this.seen.push("waited");
    } else if (data === "alone") {
      await this.ctx.blockConcurrencyWhile(async () => {
        await rest(5);
        this.seen.push("was alone");
      });
    } else if (data === "close plainly") socket.close();
    else if (data === "fail") throw new Error("no");
    else if (data === "keep") socket.serializeAttachment({ mark: 2 });
    else socket.send(`echo ${data}`);
  }

  webSocketClose(socket, code, reason, wasClean) {
    this.seen.push(`closed ${code} ${code === 1006 ? "" : reason} ${wasClean}`);
    if (reason === "answer me") socket.close(4009, "answered");
    if (code === 1006) {
      socket.send("too late");
      this.seen.push("send does not throw");
    }
    this.seen.push(`at the end: ${socket.readyState}, listed ${this.ctx.getWebSockets().length}`);
  }

  webSocketError() {
    this.seen.push("error");
  }

  /** Holds the other end of a socket of another object. */
  async readFrom(name) {
    await connect(this.env.SOCKETS.getByName(name));
  }

  closeAll(code, reason) {
    for (const socket of this.ctx.getWebSockets()) socket.close(code, reason);
  }

  sendAll(...all) {
    for (const socket of this.ctx.getWebSockets()) for (const each of all) socket.send(each);
  }

  sockets() {
    return [
      this.ctx.getWebSockets().length,
      this.ctx.getWebSockets("tagged").length,
      this.ctx.getWebSockets("second").length,
      this.ctx.getWebSockets("other").length,
    ];
  }

  marks() {
    return this.ctx
      .getWebSockets()
      .map((socket) => [
        socket.deserializeAttachment(),
        this.ctx.getTags(socket),
        socket.readyState,
        (this.ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0) > 0,
      ]);
  }
}

const isClosed = (what) => what.startsWith("closed") || what === "error";
const isEnd = (what) => what.startsWith("at the end");
const closedAt = (got) =>
  until(
    () => got,
    (all) => all.some(isClosed),
  );

export const facts = {
  "what comes before a socket is accepted waits": async (stub) => {
    const { webSocket, got, enough } = await connect(stub, { isLate: true });
    webSocket.send("hello");
    await enough(2);
    return [got, await stub.saw(), await stub.sockets()];
  },
  "so does the end of a socket": async (stub) => {
    const { webSocket, got } = await connect(stub, { path: "closed", isLate: true });
    await closedAt(got);
    return [got, webSocket.readyState >= 2];
  },
  "an object closes a socket": async (stub) => {
    const { webSocket, got } = await connect(stub);
    webSocket.send("close");
    await closedAt(got);
    const seen = await seenBy(stub, isEnd);
    return [got, seen, webSocket.readyState, await stub.sockets()];
  },
  "an object closes a socket without a code": async (stub) => {
    const { webSocket, got } = await connect(stub);
    webSocket.send("close plainly");
    await closedAt(got);
    return [got, await seenBy(stub, isEnd)];
  },
  "a reader that closes a socket hears with which code the object answers": async (stub) => {
    const { webSocket, got } = await connect(stub);
    webSocket.close(4002, "answer me");
    let late;
    try {
      webSocket.send("late");
    } catch (error) {
      late = error.name;
    }
    const seen = await seenBy(stub, isEnd);
    await closedAt(got);
    return [seen, got, late, await stub.sockets()];
  },
  "it hears nothing until the object sleeps, if that does not answer": async (stub, { evict }) => {
    const { webSocket, got } = await connect(stub);
    webSocket.close();
    const seen = await seenBy(stub, isEnd);
    await settled();
    const before = [...got];
    const listed = await stub.sockets();
    await evict();
    await closedAt(got);
    webSocket.close(1000, "again");
    return [seen, before, listed, got];
  },
  "messages before a close come first": async (stub) => {
    const { webSocket } = await connect(stub);
    webSocket.send("one");
    webSocket.send("two");
    webSocket.close(4002, "enough");
    return seenBy(stub, isEnd);
  },
  "messages of an object before its close come first": async (stub) => {
    const { got } = await connect(stub);
    await stub.sendAll("one", "two");
    await stub.closeAll(4003, "object");
    await closedAt(got);
    return got;
  },
  "messages come in while a handler waits": async (stub) => {
    const { webSocket } = await connect(stub);
    for (const each of ["wait", "hello"]) webSocket.send(each);
    return seenBy(stub, (what) => what === "waited");
  },
  "no message comes in while nothing may": async (stub) => {
    const { webSocket, enough } = await connect(stub);
    for (const each of ["alone", "hello"]) webSocket.send(each);
    await enough(2);
    return stub.saw();
  },
  "a handler that fails leaves the socket": async (stub) => {
    const { webSocket, got, enough } = await connect(stub);
    webSocket.send("fail");
    webSocket.send("hello");
    await enough(2);
    return [got, await stub.saw()];
  },
  "a life that sleeps leaves the sockets, and what is kept with them": async (
    stub,
    { again, evict },
  ) => {
    const { webSocket, got, enough } = await connect(stub);
    webSocket.send("keep");
    await seenBy(stub, (what) => what.startsWith("message"));
    await evict();
    webSocket.send("hello");
    await enough(2);
    return [got, await again().saw(), await again().marks(), await again().sockets()];
  },
  "a socket is closed while its object sleeps": async (stub, { again, evict }) => {
    const { webSocket } = await connect(stub);
    await evict();
    webSocket.close(4002, "enough");
    return seenBy(again(), isEnd);
  },
  "an automatic response wakes nobody": async (stub, { again, evict }) => {
    const { webSocket, got, enough } = await connect(stub);
    await enough(1);
    const before = await again().marks();
    await evict();
    webSocket.send("ping");
    await enough(2);
    webSocket.send("hello");
    await enough(3);
    return [got, before, await again().saw(), await again().marks()];
  },
  "only the request's signal says that nobody takes a socket": async (stub) => {
    const gone = new AbortController();
    const init = { headers: { upgrade: "websocket" }, signal: gone.signal };
    const waiting = outcome(stub.fetch("http://object/late", init));
    await seenBy(stub, (what) => what === "waits");
    gone.abort();
    await seenBy(stub, (what) => what === "accepts");
    await settled();
    return [await waiting, await stub.saw(), await stub.sockets()];
  },
  "sockets break when their object is lost": async (stub, { again }) => {
    const { got, enough } = await connect(stub);
    await enough(1);
    await outcome(stub.abort());
    await closedAt(got);
    return [got, await again().saw(), await again().sockets()];
  },
  "what an object sends on a socket that broke is lost": async (stub, { env, name }) => {
    const reader = env.SOCKETS.getByName(`${name}: its reader`);
    await reader.readFrom(name);
    await outcome(reader.abort());
    // Whether the socket is closing then, or closed, nobody relies on.
    return (await seenBy(stub, isEnd)).filter((what) => !isEnd(what));
  },
};
