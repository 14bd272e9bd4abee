/** The `AuthStore` port over a Durable Object namespace. */

import type { AuthShard, AuthStore } from "../src/auth/context/auth-store.ts";
import { allShards, shardName } from "../src/auth/store/shards.ts";
import { count } from "../src/observability/costs.ts";
import type { AuthShardObject, PartName } from "./auth-shard-object.ts";
import { leaseRequest } from "./leases.ts";

type Namespace = DurableObjectNamespace<AuthShardObject>;

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

export function authStoreIn(namespace: Namespace): AuthStore {
  const shard = (name: string): AuthShard => shardAt(namespace, name);
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

function shardAt(namespace: Namespace, name: string): AuthShard {
  /** A stub that has failed stays failed, so each call has its own. */
  const stub = (): DurableObjectStub<AuthShardObject> => {
    count("objectRequests");
    return namespace.getByName(name);
  };
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
    endGrant: (user, grant) => stub().endGrant(user, grant),
    endClient: (client) => stub().endClient(client),
    endKey: (owner, key) => stub().endKey(owner, key),
    setDisabled: (user, isDisabled) => stub().setDisabled(user, isDisabled),
  };
}

/** A part whose every method becomes a call of the object that holds it. */
function partAt(part: PartName, stub: () => DurableObjectStub<AuthShardObject>): object {
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
