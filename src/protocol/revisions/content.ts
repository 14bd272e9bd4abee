/**
 * Translates content that an older client does not know. A client that distinguishes content by its
 * `type` fails on an unknown one, so it gets a block that it can read, and nothing that it could use
 * is lost. A type that no revision knows stays unchanged.
 */

import { isObject, type JsonObject } from "../json-rpc.ts";
import type { LegacyRevision } from "../revisions.ts";

/**
 * @param place of the block in its message: it makes the resource's URI unique there.
 * @returns the block as a client of this revision can read it.
 */
export function contentFor(revision: LegacyRevision, block: unknown, place = 0): unknown {
  if (!isObject(block)) return block;
  switch (block["type"]) {
    case "audio":
      return revision >= "2025-03-26" ? block : audioAsResource(block, place);
    case "resource_link":
      return revision >= "2025-06-18" ? block : linkAsText(block);
    default:
      return block;
  }
}

/** Every revision can embed a blob of any type; its URI cannot be read. */
function audioAsResource(audio: JsonObject, place: number): JsonObject {
  const { type: _, data: blob, mimeType, ...rest } = audio;
  const uri = `edgeway:audio/${place}`;
  const resource = mimeType === undefined ? { uri, blob } : { uri, mimeType, blob };
  return { ...rest, type: "resource", resource };
}

/** The text has the title, the description, and the URI, which the client can still read. */
function linkAsText({ uri, name, title, description, annotations, _meta }: JsonObject): JsonObject {
  const words = [title ?? name, description].filter(isFilled).join(": ");
  return {
    type: "text",
    text: [words, uri].filter(isFilled).join("\n"),
    ...(annotations === undefined ? {} : { annotations }),
    ...(_meta === undefined ? {} : { _meta }),
  };
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
