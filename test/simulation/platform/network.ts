/** HTTP between contexts: a request arrives, an answer arrives, bodies flow, and any of it may break. */

import { Context } from "./context.ts";
import { IsolateRequest, IsolateResponse } from "./request-response.ts";
import { cross, type CrossedStream } from "./streams.ts";

/** A server outside of the gateway. It runs in a context of its own, which a restart ends. */
export interface Host {
  /** `undefined` where it cannot be reached any more. */
  readonly context: () => Context | undefined;
  readonly serve: (request: Request) => Response | Promise<Response>;
  /** Called when an answer has been read, or nobody reads it any longer. */
  readonly over?: (context: Context) => void;
}

export interface Connection {
  readonly label: string;
  /** Breaks it in both directions. */
  readonly cut: () => void;
  /** When the first bytes of the answer's body arrived. */
  receivedAt?: number;
}

/** A field of the request: what a table of weak keys has outlives most collections, and with it its world. */
const CONNECTION = Symbol("connection");

/** The connection on which a server got a request. */
export function connectionOf(request: Request): Connection | undefined {
  return (request as { [CONNECTION]?: Connection })[CONNECTION];
}

export class Network {
  readonly hosts = new Map<string, Host>();
  /** The connections that carry something now. */
  readonly open = new Set<Connection>();
  readonly delayMs: () => number;

  constructor(delayMs: () => number = () => 0) {
    this.delayMs = delayMs;
  }
}

const LOST = "Network connection lost.";

/** The global `fetch` of an isolate. */
export function fetchOver(network: Network): typeof fetch {
  return (input: Request | URL | string, init?: RequestInit) => {
    const request = new IsolateRequest(input, init);
    const host = network.hosts.get(new URL(request.url).host);
    if (host === undefined) return Promise.reject(new TypeError("The host cannot be reached"));
    return send(network, request, host);
  };
}

/** Sends a request of the context that runs to a host. */
export function send(network: Network, request: Request, host: Host): Promise<Response> {
  const from = Context.current();
  const { scheduler } = from;
  const { pathname } = new URL(request.url);
  const label = `${from.name} → ${request.method} ${pathname} #${scheduler.number("request")}`;
  return new Promise((resolve, reject) => {
    let isSettled = false;
    /** Cut while the answer was on its way, or nothing was. */
    let isCut = false;
    const gone = new AbortController();
    let answer: CrossedStream | undefined;
    let upload: CrossedStream | undefined;
    let server: Context | undefined;
    const hangUp = (): void => {
      if (server?.isAlive === false) return;
      if (server === undefined) gone.abort();
      else server.run(() => gone.abort());
      upload?.fail();
    };
    const settle = (work: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      if (from.isAlive) from.run(work);
    };
    const lose = (): void => {
      network.open.delete(connection);
      scheduler.post(label, `${label}: broken`, () => settle(() => reject(new Error(LOST))));
    };
    const connection: Connection = {
      label,
      cut: () => {
        network.open.delete(connection);
        if (answer !== undefined) {
          answer.cut();
          return;
        }
        isCut = true;
        lose();
        scheduler.post(`${label} back`, `${label}: found cut by the server`, hangUp);
      },
    };
    network.open.add(connection);

    const onAbort = (): void => {
      settle(() => reject(request.signal.reason as Error));
      network.open.delete(connection);
      scheduler.post(
        `${label} back`,
        `${label}: the server learns that the client has gone`,
        hangUp,
      );
    };
    if (request.signal.aborted) {
      onAbort();
      return;
    }
    request.signal.addEventListener("abort", onAbort);
    const forget = from.onEnd(onAbort);

    const arrive = (): void => {
      if (gone.signal.aborted) return;
      const context = host.context();
      if (context?.isAlive !== true) {
        lose();
        return;
      }
      server = context;
      if (request.body !== null) upload = cross(request.body, crossingTo(context));
      const init = { method: request.method, headers: request.headers, signal: gone.signal };
      const copy = new IsolateRequest(request.url, { ...init, body: upload?.body ?? null });
      Object.assign(copy, { [CONNECTION]: connection });
      const stopLosing = context.onEnd(lose);
      context.run(() => {
        void Promise.resolve()
          .then(() => host.serve(copy))
          .then(
            (response) => context.leave(() => answerWith(response, context, stopLosing)),
            () => lose(),
          );
      });
    };
    const crossingTo = (to: Context) => ({
      ...{ from, to, lane: `${label} body`, label: `${label} (request body)` },
      tellsWriter: true,
    });
    const answerWith = (response: Response, server: Context, stopLosing: () => void): void => {
      scheduler.post(label, `${label}: answered ${response.status}`, () => {
        stopLosing();
        if (isSettled || !from.isAlive) {
          server.run(() => void response.body?.cancel().catch(() => undefined));
          host.over?.(server);
          return;
        }
        const { status, headers } = response;
        const webSocket = (response as IsolateResponse).webSocket ?? null;
        const crossed =
          response.body === null
            ? undefined
            : cross(response.body, {
                ...{ from: server, to: from, lane: label, label: `${label} (answer)` },
                tellsWriter: true,
                onArrival: () => (connection.receivedAt ??= scheduler.now),
                onWriterTold: () => {
                  hangUp();
                  host.over?.(server);
                },
              });
        answer = crossed;
        request.signal.removeEventListener("abort", onAbort);
        forget();
        const closed = (knowsWriter: boolean): void => {
          network.open.delete(connection);
          if (knowsWriter) host.over?.(server);
        };
        if (crossed === undefined) closed(true);
        else {
          crossed.onOver(closed);
          request.signal.addEventListener("abort", () =>
            crossed.cut(request.signal.reason as Error),
          );
        }
        const { webSocket: _none, ...init } = { webSocket, status, headers };
        settle(() => resolve(new IsolateResponse(crossed?.body ?? null, { ...init, webSocket })));
        // The head was under way already, and the body does not follow.
        if (isCut) crossed?.cut();
      });
    };
    from.leave(() => scheduler.post(label, `${label}: arrives`, arrive, network.delayMs()));
  });
}
