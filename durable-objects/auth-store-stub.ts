/**
 * The `AuthStore` port over the Durable Objects of sign-in. A facade stands before the typed stub for
 * one reason: an object has many parts, and RPC has no plain way to a part. A method that returns an
 * `RpcTarget` keeps the object in memory until its stub is disposed of, and a getter that returns one
 * is not pipelined by the runtime of the tests. So all parts are called through `call`.
 */

import type { AuthShard, AuthStore } from "../src/auth/context/auth-store.ts";
import { allShards, shardName } from "../src/auth/store/shards.ts";
import type { PartName } from "./auth-parts.ts";
import { leaseRequest } from "./leases.ts";
import { called } from "./ports.ts";

type Stub = ReturnType<Env["AUTH"]["get"]>;

/** Every part: the compiler reports one that is missing. */
const PARTS: Readonly<Record<PartName, true>> = {
  rows: true,
  users: true,
  sessions: true,
  approvals: true,
  keys: true,
  audit: true,
  grants: true,
  bearers: true,
  traces: true,
  documents: true,
  limits: true,
  attempts: true,
  codeTries: true,
  services: true,
};

export function authStoreIn({ AUTH }: Pick<Env, "AUTH">): AuthStore {
  const shard = (name: string): AuthShard => shardOf(() => called(AUTH.getByName(name)));
  return {
    shard,
    ofUser: (key) => shard(shardName("u", key)),
    ofClient: (clientId) => shard(shardName("c", clientId)),
    ofDocument: (clientId) => shard(shardName("c", hostOf(clientId))),
    ephemeral: (key) => shard(shardName("t", key)),
    allOfUsers: () => allShards("u").map(shard),
    allOfClients: () => allShards("c").map(shard),
    allEphemeral: () => allShards("t").map(shard),
  };
}

function shardOf(stub: () => Stub): AuthShard {
  const names = Object.keys(PARTS) as PartName[];
  const parts = names.map((part) => [part, partAt(part, stub)] as const);
  return {
    ...(Object.fromEntries(parts) as unknown as Pick<AuthShard, PartName>),
    token: (origin, { params, authorization }) =>
      stub().token(origin, params.toString(), authorization),
    async lease(tags) {
      const { webSocket } = await stub().fetch(leaseRequest(tags));
      if (webSocket === null) throw new Error("The lease was not given");
      return webSocket;
    },
    currentUser: (user, codeMac) => stub().currentUser(user, codeMac),
    revokeEverything: (user) => stub().revokeEverything(user),
    finishEnds: (user) => stub().finishEnds(user),
    endGrant: (user, grant) => stub().endGrant(user, grant),
    endClient: (client) => stub().endClient(client),
    endKey: (owner, key) => stub().endKey(owner, key),
    holdPublisher: (person, tags) => stub().holdPublisher(person, tags),
    releasePublisher: (person) => stub().releasePublisher(person),
    setDisabled: (user, isDisabled) => stub().setDisabled(user, isDisabled),
  };
}

/** A part whose every method becomes a call of the object that holds it. */
function partAt(part: PartName, stub: () => Stub): object {
  return new Proxy(
    {},
    {
      get: (_, method) =>
        // `await` looks for `then`, and a part is no promise.
        method === "then"
          ? undefined
          : (...args: readonly unknown[]) => stub().call(part, String(method), args),
    },
  );
}

/** @param clientId any text of a client; a text that is no URL is refused where it is looked up. */
function hostOf(clientId: string): string {
  return URL.canParse(clientId) ? new URL(clientId).host : clientId;
}
