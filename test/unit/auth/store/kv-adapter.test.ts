/** The library's storage: each key in its object, with the calls that version 1.2.3 makes and no others. */

import { describe, test } from "vitest";

import { KvAdapter, shardOfKey } from "../../../../src/auth/store/kv-adapter.ts";
import { KvRows, type RowOptions } from "../../../../src/auth/store/kv-rows.ts";
import { shardName } from "../../../../src/auth/store/shards.ts";
import { START, withSql } from "../../lib/sql-fixture.ts";

const SECONDS = START / 1000;

interface Fixture {
  readonly adapter: KvAdapter;
  readonly rows: KvRows;
  /** The names of the objects that were asked, in order. */
  readonly shards: string[];
  readonly documents: string[];
  readonly clock: { now: number };
}

function withAdapter<T>(act: (fixture: Fixture) => Promise<T>): Promise<T> {
  return withSql(({ sql, clock }) => {
    const rows = new KvRows(sql, () => clock.now);
    const shards: string[] = [];
    const documents: string[] = [];
    const adapter = new KvAdapter({
      ...{ codeSeconds: 120, unusedClientSeconds: 3600, now: () => clock.now },
      rowsOf: (shard) => {
        shards.push(shard);
        return rows;
      },
      documentOf: (clientId) => {
        documents.push(clientId);
        return Promise.resolve({ clientId });
      },
    });
    return act({ adapter, rows, shards, documents, clock });
  });
}

const JSON_TYPE = { type: "json" } as const;
/** A grant whose code was not redeemed yet: how each begins. */
const PENDING = { expirationTtl: 600 };

describe("a key leads to one object", () => {
  test.for([
    ["grant:u_1:g", "u", "u_1"],
    ["grant:u_1:", "u", "u_1"],
    ["token:u_1:g:hash", "u", "u_1"],
    ["client:abc", "c", "abc"],
    ["client:a:b", "c", "a:b"],
    ["client::x", "c", ":x"],
    ["client:HTTPS://a.example/x", "c", "HTTPS://a.example/x"],
  ] as const)("%s", ([key, kind, owner], { expect }) => {
    expect(shardOfKey(key)).toBe(shardName(kind, owner));
  });

  test.for(["", "grant:", "grant::g", "token:", "client:", "transaction:x", "other:x", "u_1"])(
    "%j leads to none",
    (key, { expect }) => {
      expect(() => shardOfKey(key)).toThrow(TypeError);
    },
  );
});

describe("its calls", () => {
  test("comes back as JSON", async ({ expect }) => {
    await withAdapter(async ({ adapter, shards }) => {
      expect(await adapter.get("grant:u:g", JSON_TYPE)).toBe(null);
      await adapter.put("grant:u:g", '{"a":[1]}', PENDING);
      expect(await adapter.get("grant:u:g", JSON_TYPE)).toEqual({ a: [1] });
      await adapter.delete("grant:u:g");
      expect(await adapter.get("grant:u:g", JSON_TYPE)).toBe(null);
      expect(new Set(shards)).toEqual(new Set([shardName("u", "u")]));
    });
  });

  test("and nothing else is there", async ({ expect }) => {
    await withAdapter(async ({ adapter }) => {
      await expect(adapter.get("client:x")).rejects.toThrow(TypeError);
      await expect(adapter.get("client:x", { type: "text" } as never)).rejects.toThrow(TypeError);
      expect("getWithMetadata" in adapter).toBe(false);
    });
  });

  test("by an object that holds some of the rows is read there", async ({ expect }) => {
    await withAdapter(async ({ adapter, rows, shards }) => {
      const own = shardName("u", "me");
      const near = adapter.with((shard) => (shard === own ? rows : undefined));
      await near.put("grant:me:g", "{}", PENDING);
      expect(shards).toEqual([]);
      expect(await near.get("client:x", JSON_TYPE)).toBe(null);
      expect(shards).toEqual([shardName("c", "x")]);
    });
  });

  test("of a client with an address is answered by its document", async ({ expect }) => {
    await withAdapter(async ({ adapter, documents, shards }) => {
      const id = "https://a.example/x";
      expect(await adapter.get(`client:${id}`, JSON_TYPE)).toEqual({ clientId: id });
      expect([documents, shards]).toEqual([[id], []]);
      for (const other of ["http://a.example/x", "HTTPS://a.example/x", "https:/x"]) {
        expect(await adapter.get(`client:${other}`, JSON_TYPE)).toBe(null);
      }
      expect(documents).toEqual([id]);
    });
  });

  test("in a list has names and metadata, page by page", async ({ expect }) => {
    await withAdapter(async ({ adapter }) => {
      await adapter.put("grant:u:1", "{}", { ...PENDING, metadata: { clientId: "c" } });
      await adapter.put("grant:u:2", "{}", PENDING);
      const first = { name: "grant:u:1", metadata: { clientId: "c" } };
      expect(await adapter.list({ prefix: "grant:u:", limit: 1 })).toEqual({
        ...{ keys: [first], list_complete: false, cursor: "grant:u:1" },
      });
      expect(await adapter.list({ prefix: "grant:u:", limit: 1, cursor: "grant:u:1" })).toEqual({
        ...{ keys: [{ name: "grant:u:2" }], list_complete: true },
      });
      await expect(adapter.list({ prefix: "grant:" })).rejects.toThrow(TypeError);
      await expect(adapter.list()).rejects.toThrow(TypeError);
    });
  });
});

/** When the row ends that the adapter makes of a record. */
function endOf(key: string, options: object): Promise<number | undefined> {
  return withAdapter(async ({ adapter, rows }) => {
    let end: number | undefined;
    const spy = (_: string, __: string, { expiresAt }: RowOptions = {}): void => {
      end = expiresAt;
    };
    const putWhile = (_: string, ...row: Parameters<typeof spy>): boolean => {
      spy(...row);
      return true;
    };
    const spied = Object.assign(Object.create(rows), { put: spy, putWhile });
    await adapter.with(() => spied).put(key, "{}", options);
    return end;
  });
}

describe("lifetimes", () => {
  test.for([
    ["a code", "grant:u:g", { expirationTtl: 600, metadata: {} }, SECONDS + 120],
    ["a grant", "grant:u:g", { expiration: SECONDS + 99_999 }, SECONDS + 99_999],
    ["a grant without an end", "grant:u:g", {}, undefined],
    ["an access token", "token:u:g:h", { expirationTtl: 3600 }, SECONDS + 3600],
    ["an access token of ten minutes", "token:u:g:h", { expirationTtl: 600 }, SECONDS + 600],
    ["a client that registers", "client:x", { expirationTtl: 7_776_000 }, SECONDS + 3600],
    ["a client that was made", "client:x", {}, undefined],
  ] as const)("%s", async ([, key, options, expected], { expect }) => {
    expect(await endOf(key, options)).toBe(expected);
  });

  test("a client record never shows its end, so the library renews none", async ({ expect }) => {
    await withAdapter(async ({ adapter, rows }) => {
      const record = { clientId: "x", registrationExpiresAt: SECONDS + 5 };
      await adapter.put("client:x", JSON.stringify(record), { expirationTtl: 5 });
      expect(await adapter.get("client:x", JSON_TYPE)).toEqual({ clientId: "x" });
      // It is kept as the library wrote it, to be of use to another storage some day.
      expect(JSON.parse(rows.get("client:x") ?? "")).toEqual(record);
    });
  });
});
