/** An answer whose connection is lost after exactly so many bytes of its body. */

import { type ClientRequest, type IncomingMessage, request } from "node:http";

/**
 * How the connection is lost. `hang`: it stays open, but is not read any more, as when a network
 * goes away without a word.
 */
export const WAYS_TO_CUT = ["FIN", "RST", "hang"] as const;
type WayToCut = (typeof WAYS_TO_CUT)[number];

export interface Cut {
  readonly way: WayToCut;
  /** At 0 the client has the head of the answer and nothing more. */
  readonly afterBytes: number;
}

export interface CutAnswer {
  readonly status: number;
  /** What the client has of the body. */
  readonly text: string;
  /** The body was over before the cut. */
  readonly isWhole: boolean;
  /** Closes a connection that hangs. */
  close(): void;
}

interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Posts on a connection of its own, which is cut. Rejects when there is no answer at all. */
export async function postAndCut(
  url: string,
  { headers, body }: Post,
  cut: Cut,
): Promise<CutAnswer> {
  const posting = request(url, { method: "POST", headers, agent: false });
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    posting.once("response", resolve).once("error", reject).end(body);
  });
  posting.on("error", () => undefined); // it is cut
  const chunks: Buffer[] = [];
  let length = 0;
  const isWhole = await new Promise<boolean>((resolve) => {
    const cutHere = (): void => {
      answer.removeAllListeners("data");
      answer.pause();
      cutConnection(posting, cut.way);
      resolve(false);
    };
    answer.on("error", () => resolve(false));
    answer.on("end", () => resolve(true));
    if (cut.afterBytes === 0) cutHere();
    else {
      answer.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length >= cut.afterBytes) cutHere();
      });
    }
  });
  const had = Buffer.concat(chunks).subarray(0, cut.afterBytes);
  return {
    ...{ status: answer.statusCode ?? 0, text: had.toString(), isWhole },
    close: () => posting.destroy(),
  };
}

function cutConnection(posting: ClientRequest, way: WayToCut): void {
  if (way === "FIN") posting.socket?.destroy();
  else if (way === "RST") posting.socket?.resetAndDestroy();
}
