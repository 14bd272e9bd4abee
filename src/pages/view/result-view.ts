/**
 * What a tool gave: text, structure, pictures and sound. All of it is a stranger's. Nothing of it becomes
 * markup, and a medium becomes a `data:` URL of a type from our own list, which runs no script.
 */

import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { type Html, html } from "./html.ts";
import { exactText, foreign } from "./parts.ts";

const IMAGES: ReadonlySet<unknown> = new Set(
  ["png", "jpeg", "gif", "webp", "avif"].map((type) => `image/${type}`),
);
const SOUNDS: ReadonlySet<unknown> = new Set(
  ["mpeg", "mp3", "wav", "x-wav", "ogg", "webm", "mp4", "aac", "flac"].map(
    (type) => `audio/${type}`,
  ),
);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const MAX_TEXT = 200_000;
const MAX_BLOCKS = 200;

export function resultView({ content, structuredContent }: JsonObject): Html {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return html`${blocks.slice(0, MAX_BLOCKS).map(blockView)}
  ${blocks.length > MAX_BLOCKS && html`<p class="small">${blocks.length - MAX_BLOCKS} more are not shown.</p>`}
  ${
    structuredContent !== undefined &&
    html`<h3>Structure</h3>
      ${textBlock(JSON.stringify(structuredContent, null, 2))}`
  }
  ${blocks.length === 0 && structuredContent === undefined && html`<p class="empty">It gave nothing back.</p>`}`;
}

/** A newline right behind the tag is not part of the text (HTML, the pre element). */
export function textBlock(text: string): Html {
  const rest = text.length - MAX_TEXT;
  return html`<pre>${text.slice(0, MAX_TEXT)}</pre>
    ${rest > 0 && html`<p class="small">${rest} more characters are not shown.</p>`}`;
}

function blockView(block: unknown): Html {
  if (!isObject(block)) return unknownBlock("");
  const { type, text, resource } = block;
  switch (type) {
    case "text":
      return textBlock(String(text));
    case "image":
    case "audio":
      return mediaView(block["data"], block["mimeType"]);
    case "resource_link":
      return html`<p>Resource: ${locator(block)}</p>`;
    case "resource": {
      if (!isObject(resource)) return unknownBlock("resource");
      const { text: own, blob, mimeType } = resource;
      return html`<p class="small">Resource: ${locator(resource)}</p>
        ${typeof own === "string" ? textBlock(own) : mediaView(blob, mimeType)}`;
    }
    default:
      return unknownBlock(String(type));
  }
}

function locator({ uri, title, name }: JsonObject): Html {
  const label = [title, name].find((each) => typeof each === "string");
  return html`${typeof label === "string" && html`${foreign(label, "", 200)} · `}${exactText(String(uri))}`;
}

function mediaView(data: unknown, mimeType: unknown): Html {
  const type = String(mimeType);
  if (typeof data !== "string" || !BASE64.test(data)) return unknownBlock(type);
  const source = `data:${type};base64,${data}`;
  if (IMAGES.has(mimeType))
    return html`<p><img src="${source}" alt="A picture that the tool gave" /></p>`;
  if (SOUNDS.has(mimeType)) {
    return html`<p>
      <audio controls src="${source}" aria-label="Sound that the tool gave"></audio>
    </p>`;
  }
  return unknownBlock(type);
}

function unknownBlock(type: string): Html {
  return html`<p class="note">
    A part of the type ${foreign(type, "that has no name")} is not shown here.
  </p>`;
}
