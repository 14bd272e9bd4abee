/** Which object keeps whose calls. */

import { shardOf } from "../lib/fnv1a.ts";

/** It cannot change without moving every person; what is kept is kept for 90 days. */
const SHARDS = 16;

/** @returns the name of the object that has the calls of this person. */
export function activityShard(person: string): string {
  return shardName(shardOf(person, SHARDS));
}

export function allActivityShards(): readonly string[] {
  return Array.from({ length: SHARDS }, (_, shard) => shardName(shard));
}

function shardName(shard: number): string {
  return `activity-${shard}`;
}
