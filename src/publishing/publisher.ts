/**
 * The port to what a person publishes from their own machines. It is a Durable Object, one for each person;
 * all values are plain data.
 */

import { isPublishedName, PUBLISHED_PREFIX } from "../protocol/publishing.ts";

/** A server that a person publishes, or has published in the last day. */
export interface PublishedServer {
  readonly name: string;
  /** The name of the machine, as it says. */
  readonly host: string;
  /** When it was first published without a break of a day; milliseconds since 1970, like all times here. */
  readonly since: number;
  /** Since when it is not connected; absent while it is. */
  readonly offlineSince?: number;
}

export interface PublishedList {
  /** Grows whenever a server comes or goes. */
  readonly version: number;
  /** When it has grown last; 0 where that is not known. */
  readonly changedAt: number;
  readonly servers: readonly PublishedServer[];
  /** Those that their person has paused: they are served nowhere. */
  readonly paused: readonly PublishedServer[];
}

interface Publisher {
  list(): Promise<PublishedList>;
  /** Ends the publishing of a server: its machine is told. @returns `false` where there is none. */
  end(name: string): Promise<boolean>;
  /** Has a server served nowhere until it is resumed, however often its machine connects. @returns as `end`. */
  setPaused(name: string, isPaused: boolean): Promise<boolean>;
}

export interface Publishers {
  /** @returns what a person publishes, for one call. */
  of(person: string): Publisher;
}

export const NOTHING_PUBLISHED: PublishedList = {
  version: 0,
  changedAt: 0,
  servers: [],
  paused: [],
};

/** @returns whether a public name is one that an item of a published server has at `/mcp`. */
export function isOfPublished(publicName: string): boolean {
  const end = publicName.indexOf("__");
  return end > 0 && publishedName(publicName.slice(0, end)) !== undefined;
}

/** @returns the name of the server that a slug is of; `undefined` for a slug that no published server has. */
export function publishedName(slug: string): string | undefined {
  const name = slug.startsWith(PUBLISHED_PREFIX) ? slug.slice(PUBLISHED_PREFIX.length) : "";
  return isPublishedName(name) ? name : undefined;
}
