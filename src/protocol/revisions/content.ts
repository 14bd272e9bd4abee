/**
 * Content that an older client does not know. A reader that tells content apart by its `type` fails
 * on one that it has never heard of, so it gets what it can read, with nothing lost that it could
 * use. What no revision knows stays as it is: nobody here could put it into better words.
 */

import { isObject, type JsonObject } from "../json-rpc.ts";
import type { LegacyRevision } from "../revisions.ts";

/**
 * @param place of the block in its message: resources are told apart by it.
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

/** A blob of any type can be embedded in every revision; its URI leads nowhere. */
function audioAsResource(audio: JsonObject, place: number): JsonObject {
  const { type: _, data: blob, mimeType, ...rest } = audio;
  const uri = `edgeway:audio/${place}`;
  const resource = mimeType === undefined ? { uri, blob } : { uri, mimeType, blob };
  return { ...rest, type: "resource", resource };
}

/** What a person would be shown of it, and the URI, which can be read as before. */
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
