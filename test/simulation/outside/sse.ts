/** Server-Sent Events as the two ends outside of the gateway write and read them (HTML Standard 9.2). */

export interface ServerSentEvent {
  readonly id?: string | undefined;
  readonly data: string;
  /** Milliseconds. */
  readonly retry?: number | undefined;
}

export function formatEvent({ id, data, retry }: ServerSentEvent): string {
  const idLine = id === undefined ? "" : `id: ${id}\n`;
  const retryLine = retry === undefined ? "" : `retry: ${retry}\n`;
  return `${idLine}${retryLine}data: ${data}\n\n`;
}

/** @returns a reader of text that comes in pieces. */
export function eventReader(): (text: string) => ServerSentEvent[] {
  let rest = "";
  return (text) => {
    rest += text;
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.map(readBlock).filter((event) => event !== undefined);
  };
}

function readBlock(block: string): ServerSentEvent | undefined {
  let id: string | undefined;
  let retry: number | undefined;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name === "id") id = value;
    else if (name === "retry") retry = Number(value);
    else if (name === "data") data.push(value);
  }
  return id === undefined && data.length === 0 ? undefined : { id, data: data.join("\n"), retry };
}

export function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/event-stream") === true;
}
