// @ts-nocheck -- the platform's types and Node's do not fit one file
/**
 * What the gateway relies on, as a Worker that asks its platform and says what it saw. It is the same text on the
 * simulated platform and in workerd (`facts.test.ts`).
 */

import { DurableObject } from "cloudflare:workers";

const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Facts extends DurableObject {
  seen = [];

  see(what) {
    this.seen.push(what);
    return [...this.seen];
  }

  async between(what) {
    this.seen.push(`${what} begins`);
    await rest(5);
    this.seen.push(`${what} ends`);
    return [...this.seen];
  }

  async alone() {
    await this.ctx.blockConcurrencyWhile(async () => {
      this.seen.push("alone begins");
      await rest(5);
      this.seen.push("alone ends");
    });
  }

  change(given) {
    given.value = "changed";
    return given;
  }

  fail() {
    this.seen.push("failed");
    throw new TypeError("no");
  }

  values() {
    const { kv } = this.ctx.storage;
    kv.put("b", { one: 1 });
    kv.put("a", 2);
    const held = kv.get("b");
    held.one = 3;
    return [
      kv.get("none") === undefined,
      kv.get("b").one,
      [...kv.list()].map(([key]) => key),
      [...kv.list({ prefix: "b" })].length,
      kv.delete("a"),
      kv.delete("a"),
    ];
  }

  rows() {
    const { sql } = this.ctx.storage;
    sql.exec(
      "CREATE TABLE IF NOT EXISTS things (id INTEGER PRIMARY KEY, name TEXT); DELETE FROM things",
    );
    sql.exec("INSERT INTO things (name) VALUES (?), (?)", "x", "y");
    const oneOf = (query) => {
      try {
        return sql.exec(query).one();
      } catch {
        return "throws";
      }
    };
    return [
      sql.exec("SELECT name FROM things ORDER BY id").toArray(),
      oneOf("SELECT name FROM things WHERE id = 1"),
      oneOf("SELECT name FROM things WHERE id = 99"),
      oneOf("SELECT name FROM things"),
      [...sql.exec("UPDATE things SET name = 'z' WHERE id = 2 RETURNING name")],
    ];
  }

  undone() {
    const { kv } = this.ctx.storage;
    kv.put("kept", 1);
    try {
      this.ctx.storage.transactionSync(() => {
        this.ctx.storage.sql.exec("CREATE TABLE undone (id INTEGER)");
        throw new Error("undone");
      });
    } catch {
      // As it should.
    }
    const tables = this.ctx.storage.sql.exec(
      "SELECT name FROM sqlite_master WHERE name = 'undone'",
    );
    return [kv.get("kept"), tables.toArray().length];
  }

  async alarmed() {
    const { storage } = this.ctx;
    const before = await storage.getAlarm();
    const at = Date.now() + 100_000;
    await storage.setAlarm(at);
    const set = (await storage.getAlarm()) === at;
    await storage.deleteAlarm();
    const deleted = await storage.getAlarm();
    await storage.setAlarm(at);
    await storage.deleteAll();
    return [before, set, deleted, await storage.getAlarm()];
  }

  async wake() {
    await this.ctx.storage.setAlarm(Date.now() + 5);
  }

  async alarm() {
    this.seen.push(`alarm, and the next is ${await this.ctx.storage.getAlarm()}`);
  }

  later() {
    const work = async () => {
      await rest(5);
      this.seen.push("done later");
    };
    this.ctx.waitUntil(work());
    this.seen.push("returned");
  }

  lines() {
    const encoder = new TextEncoder();
    return new ReadableStream({
      type: "bytes",
      start: async (controller) => {
        for (const text of ["one ", "two ", "three"]) {
          controller.enqueue(encoder.encode(text));
          await rest(1);
        }
        controller.close();
      },
    });
  }

  fetch() {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server, ["tagged"]);
    server.serializeAttachment({ mark: 1 });
    server.send("before it is accepted");
    return new Response(null, { status: 101, webSocket: client });
  }

  webSocketMessage(socket, data) {
    this.seen.push(`message ${data}, ${socket.deserializeAttachment().mark}`);
    if (data === "close") {
      socket.close(4001, "as asked");
      this.seen.push(`after close: ${socket.readyState}`);
      try {
        socket.send("too late");
      } catch (error) {
        this.seen.push(`send throws ${error.name}`);
      }
    } else socket.send(`echo ${data}`);
  }

  webSocketClose(socket, code, reason, wasClean) {
    this.seen.push(`closed ${code} ${reason} ${wasClean}`);
  }

  sockets() {
    return [
      this.ctx.getWebSockets().length,
      this.ctx.getWebSockets("tagged").length,
      this.ctx.getWebSockets("other").length,
    ];
  }
}

const until = async (ask, isGood) => {
  for (let tries = 0; tries < 2000; tries += 1) {
    const value = await ask();
    if (isGood(value)) return value;
    await rest(5);
  }
  throw new Error("It never came");
};

const refused = async (work) => {
  try {
    return await work();
  } catch (error) {
    return [error.message.replace(/"[^"]*"/, "…"), error.remote === true];
  }
};

async function connect(stub) {
  const { webSocket } = await stub.fetch("http://object/", { headers: { upgrade: "websocket" } });
  const got = [];
  await rest(5);
  webSocket.accept();
  webSocket.addEventListener("message", ({ data }) => got.push(data));
  webSocket.addEventListener("close", ({ code, reason }) => got.push(`closed ${code} ${reason}`));
  return { webSocket, got };
}

/** Each gets an object of its own. */
const FACTS = {
  "calls of one stub arrive in order": (stub) =>
    Promise.all(["a", "b", "c"].map((what) => stub.see(what))).then((all) => all[2]),
  "calls interleave where an object waits": (stub) =>
    Promise.all([stub.between("first"), stub.between("second")]).then((all) => all[1]),
  "blockConcurrencyWhile lets nothing in": async (stub) => {
    const alone = stub.alone();
    const seen = stub.see("other");
    await alone;
    return seen;
  },
  "values are copies": async (stub) => {
    const given = { value: "mine" };
    const got = await stub.change(given);
    return [given.value, got.value];
  },
  "an error keeps its message, and the object its memory": async (stub) => [
    await refused(() => stub.fail()),
    await stub.see("still there"),
  ],
  "a method that is not there throws": async (stub) => (await refused(() => stub.none()))[1],
  "values of a storage": (stub) => stub.values(),
  "rows of a storage": (stub) => stub.rows(),
  "a transaction that throws is undone alone": (stub) => stub.undone(),
  "an alarm is set, and goes with everything": (stub) => stub.alarmed(),
  "an alarm fires once, and is gone then": async (stub) => {
    await stub.wake();
    await until(
      () => stub.see("asked"),
      (seen) => seen.some((what) => what !== "asked"),
    );
    await rest(50);
    return (await stub.see("asked")).filter((what) => what !== "asked");
  },
  "waitUntil goes on after the answer": async (stub) => {
    await stub.later();
    const seen = await until(
      () => stub.see("-"),
      (all) => all.includes("done later"),
    );
    return seen.filter((what) => what !== "-");
  },
  "a stream crosses in an answer": async (stub) => new Response(await stub.lines()).text(),
  "what comes before a socket is accepted waits": async (stub) => {
    const { webSocket, got } = await connect(stub);
    webSocket.send("hello");
    await until(
      () => got,
      ({ length }) => length >= 2,
    );
    return [got, await stub.see("-"), await stub.sockets()];
  },
  "an object closes a socket": async (stub) => {
    const { webSocket, got } = await connect(stub);
    webSocket.send("close");
    await until(
      () => got,
      (all) => all.some((what) => what.startsWith("closed")),
    );
    return [got, (await stub.see("-")).slice(0, 3), webSocket.readyState >= 2];
  },
  "a reader closes a socket": async (stub) => {
    const { webSocket } = await connect(stub);
    webSocket.close(4002, "enough");
    return until(
      () => stub.see("-"),
      (all) => all.some((what) => what !== "-"),
    ).then((all) => all.filter((what) => what !== "-"));
  },
  "promises go before timers, and timers by their time": async () => {
    const order = [];
    const timers = [
      new Promise((resolve) => setTimeout(() => resolve(order.push("ten")), 10)),
      new Promise((resolve) => setTimeout(() => resolve(order.push("one")), 1)),
      new Promise((resolve) => setTimeout(() => resolve(order.push("one, too")), 1)),
    ];
    void Promise.resolve().then(() => order.push("promise"));
    order.push("at once");
    await Promise.all(timers);
    return order;
  },
};

export default {
  async fetch(request, env) {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
    if (name === "") return Response.json(Object.keys(FACTS));
    const value = await FACTS[name](env.FACTS.getByName(name));
    return Response.json(value);
  },
};
