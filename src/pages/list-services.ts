/** The service clients, as `/admin` lists them. */

import type { AuthContext } from "../auth/context/context.ts";
import { isServiceServed } from "../auth/oauth/endpoints/client-credentials.ts";
import type { ServiceRow } from "./view/credentials-view.ts";
import { personLabel } from "./words.ts";

export async function listServices({ store }: AuthContext): Promise<readonly ServiceRow[]> {
  const lists = await Promise.all(store.allOfClients().map((shard) => shard.services.list()));
  const services = lists.flat().toSorted((a, b) => b.createdAt - a.createdAt);
  return Promise.all(
    services.map(async (client) => {
      const { id, label, scopes, resources, createdAt, maker } = client;
      const [tokens, isOn, by] = await Promise.all([
        store.ofUser(id).keys.list(id),
        isServiceServed(store, client),
        maker && store.ofUser(maker.user).users.find(maker.user),
      ]);
      // Its tokens show when it was last active; they are few, and live for an hour.
      const used = tokens.map((token) => token.usedAt ?? token.createdAt);
      return {
        id,
        label,
        scopes,
        resources,
        createdAt,
        usedAt: used.length === 0 ? undefined : Math.max(...used),
        isServed: isOn,
        maker: by && personLabel(by),
      };
    }),
  );
}
