// @ts-nocheck -- as asking.mjs
/** Storage: values, rows, what is kept together, and what leaves when it cannot be kept. */

import { connect, meanwhile, outcome, readOf, settled, until, Witness } from "./asking.mjs";

function firstOf(rows) {
  const [first] = rows;
  return first;
}

export class Storing extends Witness {
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

  returning() {
    const { sql } = this.ctx.storage;
    sql.exec("CREATE TABLE counts (key TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID");
    const add = `INSERT INTO counts VALUES (?, ?)
      ON CONFLICT (key) DO UPDATE SET n = max(n + 1, excluded.n) RETURNING n`;
    const once = "INSERT OR IGNORE INTO counts VALUES (?, ?) RETURNING key";
    sql.exec("CREATE TABLE log (n INTEGER PRIMARY KEY AUTOINCREMENT, x)");
    sql.exec("INSERT INTO log (x) VALUES (1), (2)");
    sql.exec("DELETE FROM log");
    return [
      sql.exec(add, "a", 1).toArray(),
      sql.exec(add, "a", 1).one(),
      sql.exec(once, "a", 1).toArray(),
      sql.exec(once, "b", 1).toArray(),
      [...sql.exec("DELETE FROM counts WHERE key = ? RETURNING 1", "none")],
      firstOf(sql.exec("DELETE FROM counts WHERE key = ? RETURNING key", "b")),
      sql.exec("SELECT count(*) AS n FROM counts").one(),
      sql.exec("INSERT INTO log (x) VALUES (3) RETURNING n").one(),
    ];
  }

  /** Reads the first of two rows, or none of one. */
  unread(isFirst) {
    const { sql, kv } = this.ctx.storage;
    kv.put("with it", 1);
    sql.exec("CREATE TABLE two (id INTEGER); INSERT INTO two VALUES (1), (2)");
    if (isFirst) return firstOf(sql.exec("DELETE FROM two RETURNING id"));
    sql.exec("DELETE FROM two WHERE id = 1 RETURNING id");
    return "unread";
  }

  kinds() {
    const { sql } = this.ctx.storage;
    const back = (value) => {
      try {
        const [row] = sql.exec("SELECT ? AS v, typeof(?) AS t", value, value);
        return [row.v, row.t];
      } catch {
        return "throws";
      }
    };
    return [
      back(null),
      back(1),
      back(1.5),
      back(Date.UTC(2026, 0, 1)),
      back(Number.MAX_SAFE_INTEGER),
      back("a\u{1F600}b"),
      back(""),
    ];
  }

  refuses() {
    const { sql } = this.ctx.storage;
    sql.exec("CREATE TABLE only (id INTEGER PRIMARY KEY)");
    sql.exec("INSERT INTO only VALUES (1)");
    const errors = ["INSERT INTO only VALUES (2), (1)", "SELECT * FROM none", "not sql"].map(
      (query) => {
        try {
          sql.exec(query).toArray();
          return "good";
        } catch (error) {
          return error instanceof Error;
        }
      },
    );
    return [errors, sql.exec("SELECT id FROM only").toArray()];
  }

  changing() {
    const { sql } = this.ctx.storage;
    sql.exec("CREATE TABLE some (id INTEGER PRIMARY KEY)");
    sql.exec("INSERT INTO some VALUES (1), (2), (3)");
    const seen = [];
    for (const { id } of sql.exec("SELECT id FROM some ORDER BY id").toArray()) {
      seen.push(id);
      sql.exec("DELETE FROM some WHERE id = ?", id);
    }
    return [seen, sql.exec("SELECT id FROM some").toArray()];
  }

  undone() {
    const { kv } = this.ctx.storage;
    kv.put("kept", 1);
    let thrown;
    try {
      this.ctx.storage.transactionSync(() => {
        kv.put("kept", 2);
        kv.put("new", 1);
        this.ctx.storage.sql.exec("CREATE TABLE undone (id INTEGER)");
        throw new TypeError("undone");
      });
    } catch (error) {
      thrown = `${error.name} ${error.message}`;
    }
    const tables = this.ctx.storage.sql.exec(
      "SELECT name FROM sqlite_master WHERE name = 'undone'",
    );
    const after = this.ctx.storage.transactionSync(() => kv.put("after", 1) ?? "value");
    return [thrown, kv.get("kept"), kv.get("new"), tables.toArray().length, after];
  }

  inside() {
    const { storage } = this.ctx;
    storage.transactionSync(() => {
      storage.kv.put("outer", 1);
      try {
        storage.transactionSync(() => {
          storage.kv.put("inner", 1);
          throw new Error("inner");
        });
      } catch {
        // The outer one goes on.
      }
    });
    return [storage.kv.get("outer"), storage.kv.get("inner")];
  }

  async emptied() {
    const { storage } = this.ctx;
    storage.kv.put("a", 1);
    storage.sql.exec("CREATE TABLE gone (id INTEGER)");
    await storage.deleteAll();
    storage.kv.put("b", 1);
    const isGone = storage.sql
      .exec("SELECT count(*) AS n FROM sqlite_master WHERE name = 'gone'")
      .one();
    storage.sql.exec("CREATE TABLE gone (id INTEGER)");
    return [isGone.n, [...storage.kv.list()], storage.sql.exec("SELECT * FROM gone").toArray()];
  }

  emptying() {
    const { storage } = this.ctx;
    storage.kv.put("a", 1);
    const emptied = storage.deleteAll();
    const atOnce = storage.kv.get("a") ?? "gone";
    return emptied.then(() => [atOnce, storage.kv.get("a") ?? "gone"]);
  }

  async keep(key, value) {
    this.ctx.storage.kv.put(key, value);
    await this.ctx.storage.sync();
  }

  kept(...keys) {
    return keys.map((key) => this.ctx.storage.kv.get(key) ?? "none");
  }

  /** Dies in the turn in which it writes two values. */
  keepAndDie() {
    this.ctx.storage.kv.put("one", 1);
    this.ctx.storage.kv.put("two", 2);
    this.ctx.abort("dead");
  }

  /** Writes what is found wrong when the turn is kept. */
  #break() {
    const { sql } = this.ctx.storage;
    sql.exec("PRAGMA defer_foreign_keys = ON");
    sql.exec("INSERT INTO child VALUES (99)");
  }

  async prepare() {
    const { sql } = this.ctx.storage;
    sql.exec("CREATE TABLE parent (id INTEGER PRIMARY KEY)");
    sql.exec("CREATE TABLE child (parent INTEGER REFERENCES parent (id))");
    await this.ctx.storage.sync();
  }

  /** Writes what cannot be kept, and answers. */
  breaks() {
    this.ctx.storage.kv.put("with it", 1);
    this.#break();
    return "an answer";
  }

  async breaksAndCalls() {
    this.#break();
    await this.env.STORING.getByName("called").see("a call");
  }

  async breaksInSync() {
    this.#break();
    await this.ctx.storage.sync();
    return "an answer";
  }

  fetch() {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  webSocketMessage(socket) {
    socket.send("before");
    this.#break();
    socket.send("after");
  }

  /** A stream that has been returned says what was written and cannot be kept. */
  streamed() {
    const encoder = new TextEncoder();
    return new ReadableStream({
      type: "bytes",
      start: async (controller) => {
        controller.enqueue(encoder.encode("before "));
        await meanwhile();
        this.#break();
        controller.enqueue(encoder.encode("after"));
      },
    });
  }
}

export const facts = {
  "values are kept as copies, and listed in order": (stub) => stub.values(),
  "rows, and one of them": (stub) => stub.rows(),
  "the rows that a statement returns": (stub) => stub.returning(),
  "kinds of values": (stub) => stub.kinds(),
  "a statement that fails changes nothing": (stub) => stub.refuses(),
  "rows that were read may be deleted": (stub) => stub.changing(),
  "rows that a statement returns have to be read": async (stub, { again }) => [
    [await outcome(stub.unread(true)), await again().kept("with it")],
    [await outcome(again().unread(false)), await again().kept("with it")],
  ],
  "a transaction that throws is undone alone": (stub) => stub.undone(),
  "so is a transaction within another": (stub) => stub.inside(),
  "deleteAll leaves a storage that can be used": (stub) => stub.emptied(),
  "deleteAll empties at once": (stub) => stub.emptying(),
  "what was written is there for the next life": async (stub, { again, evict }) => {
    await stub.keep("a", { one: [1] });
    await evict();
    const slept = await again().kept("a");
    await outcome(again().abort());
    return [slept, await again().kept("a")];
  },
  "what one turn writes is kept together": async (stub, { again }) => {
    await stub.keep("before", 1);
    const failed = await outcome(stub.keepAndDie());
    const [before, one, two] = await again().kept("before", "one", "two");
    return [failed, before, (one === "none") === (two === "none")];
  },
  "an answer does not leave when its writes fail": async (stub, { again }) => {
    await stub.prepare();
    await stub.see("before");
    const failed = await outcome(stub.breaks());
    return [failed, await again().saw(), await again().kept("with it")];
  },
  "nor does what waits for `sync`": async (stub) => {
    await stub.prepare();
    return outcome(stub.breaksInSync());
  },
  "nor does a call": async (stub, { env }) => {
    await stub.prepare();
    const failed = await outcome(stub.breaksAndCalls());
    await settled();
    return [failed, await env.STORING.getByName("called").saw()];
  },
  "a message does not leave when writes fail": async (stub) => {
    await stub.prepare();
    const { webSocket, got } = await connect(stub);
    webSocket.send("go");
    await until(
      () => got,
      (all) => all.some((what) => what.startsWith("closed") || what === "error"),
    );
    return got;
  },
  "a stream that was returned waits for no write": async (stub) => {
    await stub.prepare();
    return readOf(await stub.streamed());
  },
};
