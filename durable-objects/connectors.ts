/** The ports to what people publish, over a Durable Object namespace: each person has one object. */

import type { Config } from "../src/config/config.ts";
import { publishedServer } from "../src/endpoint/published-endpoint.ts";
import type { Server } from "../src/endpoint/server.ts";
import type { PublishingBacking } from "../src/http/publishing.ts";
import { KnownServers, LIST_USED_MS } from "../src/publishing/known-servers.ts";
import type { Publishers } from "../src/publishing/publisher.ts";
import type { Fetch } from "../src/upstream/target.ts";
import { called } from "./ports.ts";

type Namespace = Pick<Env, "CONNECTORS">;

function publishersIn({ CONNECTORS }: Namespace): Publishers {
  return { of: (person) => connectorAt({ CONNECTORS }, person) };
}

export function connectorAt(
  { CONNECTORS }: Namespace,
  person: string,
): ReturnType<Env["CONNECTORS"]["get"]> {
  return called(CONNECTORS.getByName(person));
}

/** What the Worker needs of what people publish; `undefined` while publishing is off. */
export function publishingIn(env: Namespace, config: Config): PublishingBacking | undefined {
  if (!config.isPublishingOn) return undefined;
  const publishers = publishersIn(env);
  return {
    publishers,
    known: new KnownServers({ publishers }),
    // That somebody publishes anything is known with their token.
    settleMs: LIST_USED_MS + config.limits.bearerCacheSeconds * 1000,
    serverOf: (person, name) => publishedServerIn(env, config, person, name),
    connect: (person, tags) => connectorAt(env, person).fetch(publishRequest(tags)),
  };
}

/** A server that a person publishes, for every connector of the gateway. @param onGone as `publishedTarget` takes it. */
export function publishedServerIn(
  env: Namespace,
  { limits }: Pick<Config, "limits">,
  person: string,
  name: string,
  onGone: () => void = () => undefined,
): Server {
  const open: Fetch = (url, init) => connectorAt(env, person).fetch(new Request(url, init));
  return publishedServer(person, name, open, limits, onGone);
}

const TAGS = "edgeway-publish";

/**
 * The request by which a machine's connection is opened.
 *
 * @param tags the grant or key, and its user: the connection ends with any of them.
 */
function publishRequest(tags: readonly string[]): Request {
  const headers = { Upgrade: "websocket", [TAGS]: encodeURIComponent(JSON.stringify(tags)) };
  return new Request("https://connector.internal/publish", { headers });
}

/** @returns the tags; `undefined` for a request to a published server. */
export function readPublishRequest({ headers }: Request): readonly string[] | undefined {
  const tags = headers.get(TAGS);
  return tags === null ? undefined : (JSON.parse(decodeURIComponent(tags)) as readonly string[]);
}
