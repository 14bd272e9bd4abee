/** How objects are reached: the binding of a class, its stubs, and their calls. */

import { Context } from "./context.ts";
import type { Life } from "./life.ts";
import { send } from "./network.ts";
import { ObjectId, type ObjectHome, Slot } from "./objects.ts";
import { IsolateRequest } from "./request-response.ts";
import { copyOver } from "./rpc.ts";

class ResetError extends Error {
  readonly durableObjectReset = true;
  readonly retryable = true;
  readonly remote = true;
}

/** The binding of a class: ids and stubs. */
export class Namespace {
  readonly home: ObjectHome;
  readonly className: string;
  readonly slots = new Map<string, Slot>();

  constructor(home: ObjectHome, className: string) {
    this.home = home;
    this.className = className;
  }

  newUniqueId(): ObjectId {
    const { random } = this.home;
    const part = (): string => random.bits().toString(16).padStart(8, "0");
    return new ObjectId(Array.from({ length: 8 }, part).join(""));
  }

  idFromString(text: string): ObjectId {
    return new ObjectId(text);
  }

  idFromName(name: string): ObjectId {
    return new ObjectId(`name:${name}`, name);
  }

  getByName(name: string): object {
    return this.get(this.idFromName(name));
  }

  get(id: ObjectId): object {
    const slot = this.#slot(id);
    const stub: Stub = { id, slot, lane: `stub ${this.home.scheduler.number("stub")}` };
    return new Proxy(
      { id },
      {
        get: (target, method) => {
          if (method === "id") return target.id;
          if (typeof method !== "string" || method === "then") return undefined;
          if (method === "fetch") {
            return (input: Request | string, init?: RequestInit) =>
              fetchFrom(stub, new IsolateRequest(input, init));
          }
          return (...args: unknown[]) => call(stub, method, args);
        },
      },
    );
  }

  #slot(id: ObjectId): Slot {
    const key = id.toString();
    let slot = this.slots.get(key);
    if (slot === undefined) {
      const number = this.home.scheduler.number(this.className);
      slot = new Slot(this.home, this.className, id, `${this.className} ${number}`);
      this.slots.set(key, slot);
    }
    return slot;
  }
}

/** What a stub reaches. */
interface Stub {
  readonly id: ObjectId;
  readonly slot: Slot;
  /** Its calls arrive in the order in which they were made. */
  readonly lane: string;
  /** The life that it called last. */
  life?: Life;
}

/** @returns the life that takes a call; `undefined` for a stub whose object was lost since: it stays broken. */
function reach(stub: Stub): Life | undefined {
  if (stub.life?.isLost === true) return undefined;
  return (stub.life = stub.slot.living(stub.id));
}

function fetchFrom(stub: Stub, request: Request): Promise<Response> {
  const { slot } = stub;
  const host = {
    context: () => reach(stub),
    serve: (copy: Request) => slot.deliver((life) => life.user.fetch?.(copy) ?? new Response(null)),
  };
  return send(slot.home.network, request, host);
}

/** Calls a method of an object. */
function call(stub: Stub, method: string, args: readonly unknown[]): Promise<unknown> {
  const from = Context.current();
  const { scheduler } = from;
  const { slot, lane } = stub;
  const label = `${from.name} → ${slot.name}.${method} #${scheduler.number("call")}`;
  const given = args.map((arg) => copyOver(arg));
  return new Promise((resolve, reject) => {
    let isSettled = false;
    const settle = (what: string, work: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      from.post(label, `${label}: ${what}`, work);
    };
    const lost = (): void =>
      settle("the object was reset", () => reject(new ResetError("The object was reset.")));
    const arrive = (): void => {
      const life = reach(stub);
      if (life === undefined) {
        lost();
        return;
      }
      const forget = life.onEnd(lost);
      const user = life.user as unknown as Record<string, (...args: unknown[]) => unknown>;
      const returned = (value: unknown): void =>
        life.leave(() => {
          forget();
          const copy = copyOver(value, { from: life, to: from, lane: label, label });
          settle("returns", () => resolve(copy));
        });
      const threw = (error: unknown): void =>
        life.leave(() => {
          forget();
          settle("throws", () => reject(errorOver(error, slot.id)));
        });
      slot
        .deliver(() => {
          if (user[method] === undefined)
            throw new TypeError(`The RPC receiver does not implement the method "${method}".`);
          return user[method](...given);
        })
        .then(returned, threw);
    };
    from.leave(() => scheduler.post(lane, `${label}: arrives`, arrive));
  });
}

/** The errors that keep what they are. Of any other, what it has as its own. */
const KNOWN = { TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError };

function errorOver(error: unknown, id: ObjectId): unknown {
  if (!(error instanceof Error)) return error;
  const Made = KNOWN[error.name as keyof typeof KNOWN] ?? Error;
  const own = copyOver(Object.fromEntries(Object.entries(error))) as object;
  const marks = { remote: true, durableObjectId: id.toString() };
  return Object.assign(new Made(error.message), own, marks);
}
