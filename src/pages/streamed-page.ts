/** A page that is sent while what it shows still happens: browsers show what they have, without a script. */

import { withKeepAlive } from "../lib/keep-alive.ts";
import { PushStream } from "../lib/push-stream.ts";
import { type PageOptions, renderPage } from "./respond.ts";
import type { Html } from "./view/html.ts";
import { HOLE, type View } from "./view/layout.ts";

/** So far a page may be ahead of its reader. */
const WINDOW_BYTES = 65_536;
/** Only a write shows that the reader has gone. */
const KEEP_ALIVE_MS = 2000;

/**
 * @param fill writes what stands in the view's `HOLE`. Never rejects.
 * @param onGone called when the reader has gone.
 * @returns the response, and the end of what it shows.
 */
export function streamedPage(
  view: View,
  options: PageOptions,
  fill: (write: (part: Html) => Promise<void>) => Promise<void>,
  onGone: () => void,
): { readonly response: Response; readonly done: Promise<void> } {
  const { text, headers } = renderPage(view, options);
  const [before = "", after = ""] = text.split(HOLE.toString());
  const stream = new PushStream({ windowBytes: WINDOW_BYTES, onCancel: onGone });
  // The keep-alive goes between blank lines.
  const write = (part: Html | string): Promise<void> => stream.write(`${part.toString()}\n\n`);
  const send = async (): Promise<void> => {
    await write(before);
    await fill(write);
    await write(after);
    stream.close();
  };
  const body = withKeepAlive(stream.body, { filler: "\n", intervalMs: KEEP_ALIVE_MS });
  return { response: new Response(body, { headers }), done: send() };
}
