/** `Request` and `Response` as the platform has them: with the client's signal, and with a WebSocket. */

import type { SimulatedSocket } from "./sockets.ts";

type Body = ConstructorParameters<typeof Response>[0];

export class IsolateRequest extends Request {
  constructor(input: Request | URL | string, init: RequestInit = {}) {
    const { signal, ...rest } = init;
    const isStreaming = (rest.body ?? null) !== null;
    super(input, { ...rest, ...(isStreaming ? { duplex: "half" } : {}) });
    const given = input instanceof IsolateRequest ? input.signal : new AbortController().signal;
    // The host's own signal follows the given one through weak references, which a collection may clear.
    Object.defineProperty(this, "signal", { value: signal ?? given });
  }
}

export interface IsolateResponseInit extends ResponseInit {
  readonly webSocket?: SimulatedSocket | null;
}

export class IsolateResponse extends Response {
  readonly webSocket: SimulatedSocket | null;

  /** @param init may be another response, whose fields are no own properties. */
  constructor(body?: Body, init: IsolateResponseInit = {}) {
    const { status = 200, statusText = "", headers = {}, webSocket } = init;
    const isUpgrade = status === 101;
    super(body, { status: isUpgrade ? 200 : status, statusText, headers });
    this.webSocket = webSocket ?? null;
    // The host refuses this status.
    if (isUpgrade) Object.defineProperty(this, "status", { value: status });
  }

  static override json(value: unknown, init: ResponseInit = {}): IsolateResponse {
    const headers = new Headers(init.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new IsolateResponse(JSON.stringify(value), { ...init, headers });
  }
}
