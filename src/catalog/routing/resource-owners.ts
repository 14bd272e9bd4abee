/**
 * The owner of a resource. URIs are passed unchanged, so the servers' lists determine the owner: the
 * first one in the operator's order that lists the URI, whose tool points at it, or whose
 * template fits. So no server takes a URI that an earlier one claims. Only a template that begins
 * with an expression, and so may fit everything, yields to other servers.
 */

import { settleWithin } from "../../lib/time-out.ts";
import { isAllowedUnlisted, isOpen } from "../../policy/item-policy.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import { currentCatalog, type Known, knownCatalog } from "../cache/catalogs.ts";
import { advertises } from "../read/list-source.ts";
import type { Server } from "../../endpoint/server.ts";
import type { RoutingScope } from "../request-scope.ts";
import { ServerResources } from "./server-resources.ts";
import { StepBudget } from "../uris/step-budget.ts";

/**
 * The wait for servers without a known catalog. A slower server gets no request for a resource that
 * another lists: a stalled server must not delay requests to the others.
 */
const HEAD_START_MS = 300;

/** The known resources of an endpoint, for the duration of one request. */
export class ResourceOwners {
  readonly #place: RoutingScope;
  readonly #client: ClientKind;
  readonly #steps = new StepBudget();
  /** In the operator's order. */
  #known: Known[];
  /** Resolves when the late servers are known too. */
  readonly #complete: Promise<unknown>;

  private constructor(place: RoutingScope, client: ClientKind) {
    const { servers } = place.endpoint;
    this.#place = place;
    this.#client = client;
    this.#known = servers.map((server) => ({
      server,
      catalog: undefined,
      trouble: undefined,
      freshMs: 0,
    }));
    this.#complete = Promise.all(
      servers.map(async (server, index) => {
        this.#known[index] = await knownCatalog(place, server, client);
      }),
    );
  }

  static async at(place: RoutingScope, client: ClientKind): Promise<ResourceOwners> {
    const owners = new ResourceOwners(place, client);
    // Catalogs that arrive late are ready for the next request.
    place.waitUntil(owners.#complete);
    await settleWithin(owners.#complete, HEAD_START_MS);
    return owners;
  }

  async awaitAll(): Promise<void> {
    await this.#complete;
  }

  /** Gets the current catalogs of some servers. */
  async refresh(isAsked: (server: Server) => boolean): Promise<void> {
    const known = this.#known.map(async (one) =>
      isAsked(one.server) ? currentCatalog(this.#place, one.server, this.#client) : one,
    );
    this.#known = await Promise.all(known);
  }

  ownerOf(uri: string): Server | undefined {
    const steps = this.#steps;
    return (
      this.#first((its) => its.claims(uri, steps)) ??
      this.#first((its) => its.fitsOpenly(uri, steps))
    );
  }

  /** @param text of a template, as a server lists it. */
  ownerOfTemplate(text: string): Server | undefined {
    return this.#first((its) => its.listsTemplate(text));
  }

  /** The servers that may have a resource that none lists. */
  candidatesFor(uri: string): readonly Server[] {
    const candidates = this.#known
      .filter(mayHaveResources)
      .filter(({ server: { resources } }) => isAllowedUnlisted(resources, uri));
    // To connect an account is asked only where no other server may have the resource.
    const usable = candidates.filter(({ isUnconnected }) => isUnconnected !== true);
    return (usable.length > 0 ? usable : candidates).map(({ server }) => server);
  }

  #first(isOwner: (its: ServerResources) => boolean): Server | undefined {
    for (const { catalog, server } of this.#known) {
      if (catalog === undefined) continue;
      const isIts = isOwner(ServerResources.of(server, catalog));
      // Others must not use up what is to be found out about this one.
      if (this.#steps.isUsedUp) return undefined;
      if (isIts) return server;
    }
    return undefined;
  }
}

/** A server without a known catalog may; some servers have lists that they do not advertise. */
function mayHaveResources({ catalog }: Known): boolean {
  if (catalog === undefined) return true;
  const { resources, templates } = catalog.lists;
  const isAdvertised = advertises(catalog.about.capabilities, "resources");
  return isAdvertised || resources.length > 0 || templates.length > 0;
}

/**
 * The owners of the resources of subscriptions and completions.
 *
 * @param isReference it may also be the text of a template.
 * @returns by URI, without those that have no owner or may not be seen.
 */
export async function ownersOf(
  place: RoutingScope,
  client: ClientKind,
  uris: readonly string[],
  isReference = false,
): Promise<ReadonlyMap<string, Server>> {
  const { servers, isMerged } = place.endpoint;
  const [only] = servers;
  const isAllOfOne = !isMerged && isOpen(only.resources);
  if (isAllOfOne || uris.length === 0) return new Map(uris.map((uri) => [uri, only]));

  const owners = await ResourceOwners.at(place, client);
  const owned = new Map<string, Server>();
  const look = (): boolean => {
    const missing = uris.filter((uri) => !owned.has(uri));
    for (const uri of missing) {
      const owner =
        (isReference ? owners.ownerOfTemplate(uri) : undefined) ??
        owners.ownerOf(uri) ??
        // A server alone may have what is allowed by its very name.
        (!isMerged && isAllowedUnlisted(only.resources, uri) ? only : undefined);
      if (owner !== undefined) owned.set(uri, owner);
    }
    return uris.every((uri) => owned.has(uri));
  };
  if (look()) return owned;
  await owners.awaitAll();
  if (look()) return owned;
  await owners.refresh(() => true);
  look();
  return owned;
}
