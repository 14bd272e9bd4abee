/**
 * What a Durable Object of somebody else's costs, in the units that the platform bills: the same
 * names as the gateway's own report. The storage is counted where it is called, by methods put over
 * those of the platform; the methods of key and value are billed as rows.
 */

import { NO_COSTS } from "../../src/observability/costs.ts";

const costs = { ...NO_COSTS };
/** What has been asked of the database. A cursor knows its rows when it has been read. */
let cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];

export function readCosts(): typeof costs {
  for (const { rowsRead, rowsWritten } of cursors) {
    costs.rowsRead += rowsRead;
    costs.rowsWritten += rowsWritten;
  }
  cursors = [];
  return costs;
}

/** Counts an object, and from now on what it asks of its storage. */
export function countObject({ storage }: DurableObjectState): void {
  costs.objectsConstructed += 1;
  const { sql } = storage;
  const exec = sql.exec.bind(sql);
  define(sql, "exec", (...given: Parameters<typeof exec>) => {
    const cursor = exec(...given);
    cursors.push(cursor);
    return cursor;
  });
  const put = storage.put.bind(storage) as (...given: unknown[]) => Promise<void>;
  define(storage, "put", (...given: unknown[]) => {
    const [keys] = given;
    costs.rowsWritten += typeof keys === "object" && keys !== null ? Object.keys(keys).length : 1;
    return put(...given);
  });
  const get = storage.get.bind(storage) as (...given: unknown[]) => Promise<unknown>;
  define(storage, "get", (...given: unknown[]) => {
    const [keys] = given;
    costs.rowsRead += Array.isArray(keys) ? keys.length : 1;
    return get(...given);
  });
  const remove = storage.delete.bind(storage) as (...given: unknown[]) => Promise<number | boolean>;
  define(storage, "delete", async (...given: unknown[]) => {
    const removed = await remove(...given);
    costs.rowsWritten += Number(removed);
    return removed;
  });
  const list = storage.list.bind(storage);
  define(storage, "list", async (...given: Parameters<typeof list>) => {
    const found = await list(...given);
    costs.rowsRead += found.size;
    return found;
  });
  const setAlarm = storage.setAlarm.bind(storage);
  define(storage, "setAlarm", (...given: Parameters<typeof setAlarm>) => {
    costs.alarmsSet += 1;
    return setAlarm(...given);
  });
}

/** Counts a message that came over a WebSocket. */
export function countMessage(): void {
  costs.webSocketMessagesIn += 1;
}

/** The same namespace, with every call of its objects counted: `fetch` and methods alike. */
export function countCalls<Namespace extends object>(namespace: Namespace): Namespace {
  return new Proxy(namespace, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        const made: unknown = Reflect.apply(member, target, given);
        return name === "get" || name === "getByName" ? countedStub(made as object) : made;
      };
    },
  });
}

function countedStub(stub: object): object {
  return new Proxy(stub, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function" || name === "then") return member;
      return (...given: unknown[]) => {
        costs.objectRequests += 1;
        return Reflect.apply(member, target, given) as unknown;
      };
    },
  });
}

function define(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, configurable: true, writable: true });
}
