/**
 * One stream of an upstream: its events in order, kept for good, and the one connection that reads
 * them. A reader that reconnects names the last event it had and gets the rest, then what comes live.
 */

const RETRY_MS = 100;

/** The connection; a response of `node:http` satisfies it by shape. */
interface Reader {
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  flushHeaders(): void;
  write(text: string): unknown;
  end(): unknown;
  on(event: "close", listener: () => void): unknown;
}

export class EventJournal {
  readonly #id: string;
  readonly #givesIds: boolean;
  readonly #data: string[] = [];
  #reader: Reader | undefined;
  #isEnded = false;

  /** @param givesIds without ids no event can be requested again: events without a reader are lost. */
  constructor(id: string, givesIds: boolean) {
    this.#id = id;
    this.#givesIds = givesIds;
  }

  /**
   * Gives the stream to a connection; an earlier one is closed, for the newest wins. It opens with
   * an event that has an id and no data, from which it can be taken up before anything is said.
   *
   * @param after how many events the reader has; all that there are by default.
   */
  attach(reader: Reader, after = this.#data.length): void {
    this.#reader?.end();
    this.#reader = reader;
    reader.on("close", () => {
      if (this.#reader === reader) this.#reader = undefined;
    });
    reader.writeHead(200, { "Content-Type": "text/event-stream" });
    reader.flushHeaders();
    if (this.#givesIds) reader.write(`id: ${this.#idAt(after)}\nretry: ${RETRY_MS}\ndata:\n\n`);
    for (let seq = after + 1; seq <= this.#data.length; seq++) this.#write(seq);
    if (this.#isEnded) reader.end();
  }

  append(message: object): void {
    this.#data.push(JSON.stringify(message));
    this.#write(this.#data.length);
  }

  end(): void {
    this.#isEnded = true;
    this.#reader?.end();
  }

  #write(seq: number): void {
    const id = this.#givesIds ? `id: ${this.#idAt(seq)}\n` : "";
    this.#reader?.write(`${id}data: ${this.#data[seq - 1]}\n\n`);
  }

  #idAt(seq: number): string {
    return `${this.#id}/${seq}`;
  }
}

/** The journal that an event id is of, and the event's place in it. */
export function parseJournalId(eventId: string): { readonly id: string; readonly seq: number } {
  const slash = eventId.lastIndexOf("/");
  return { id: eventId.slice(0, slash), seq: Number(eventId.slice(slash + 1)) };
}
