/** What a client says of itself, as the holder of its session at a legacy server can keep it: short. */

import { jsonBytes } from "../../lib/json-bytes.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import { shortInfo } from "../../protocol/short-info.ts";

const MAX_BYTES = 2048;

/** @returns it, without what is long; or one sentence on why it cannot be kept. */
export function boundInfo(clientInfo: JsonObject | undefined): JsonObject | string | undefined {
  if (clientInfo === undefined || jsonBytes(clientInfo) <= MAX_BYTES) return clientInfo;
  const short = shortInfo(clientInfo);
  const bytes = jsonBytes(short);
  if (bytes <= MAX_BYTES) return short;
  return `The client's name, version and title come to ${bytes} bytes of JSON; at most ${MAX_BYTES} are allowed`;
}
