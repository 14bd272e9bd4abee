/**
 * The reverse proxy of `npm start`. wrangler takes the address of a request from `MF-Original-URL`
 * and the address of its client from `CF-Connecting-IP`, whoever sends them, and answers what it
 * cannot parse with a stack trace. So the proxy alone listens where clients connect: it drops what
 * only the runtime may say, and says itself where the connection is from.
 *
 * It serves plain HTTP, and WebSockets. A request for any other protocol (`Upgrade`) is served without it.
 */

import { Agent, createServer, request as sendRequest, ServerResponse } from "node:http";

/** The header with which the Worker knows a request of this proxy (`src/http/guard.ts`). */
const LAUNCHER_KEY = "Edgeway-Launcher";
const NOTHING = /^(?!)/;
/** What wrangler and Miniflare tell each other, and what only this proxy says. */
const RESERVED = /^(?:mf-.*|edgeway-launcher)$/i;
/**
 * RFC 9110 section 7.6.1: these concern one connection. Node.js answers `Expect` itself. Trailer
 * fields are dropped, as a proxy may (section 6.5.1), and so is the header that announces them.
 */
const HOP_BY_HOP = /^(?:connection|keep-alive|proxy-connection|te|upgrade|expect|trailer)$/i;
/**
 * `Connection` names nothing that is for the other end (RFC 9110 section 7.6.1). A client that names
 * these would have its body sent without its length, and read as a request of its own, with the
 * headers of whoever comes next on that connection.
 */
const NEVER_OF_ONE_CONNECTION = new Set(["host", "content-length", "transfer-encoding"]);
/** What a request for a WebSocket, and the answer to it, say of their connection (RFC 6455 section 4.1). */
const TO_WEB_SOCKET = ["Connection", "Upgrade", "Upgrade", "websocket"];
/** Here wrangler answers by itself, and the gateway's guard is not asked. */
const WRANGLERS_OWN = "/cdn-cgi/";
/** One host, and nothing that a URL would take for its user, path or query. */
const HOST = /^[^\s/?#@\\]+$/;
const LOCALHOSTS = ["127.0.0.1", "::1"];
/** Each of these has it already. */
const WITH_LOCALHOST = /^(?:0\.0\.0\.0|::|localhost)$/;
/** As many bytes of headers as Workers take. */
const MAX_HEADER_BYTES = 128 * 1024;
/** Shorter than the time after which workerd closes an idle connection: 5 seconds. */
const IDLE_CONNECTION_MS = 3000;

/**
 * @typedef {object} Destination
 * @property {string} host
 * @property {number} port
 *
 * @typedef {Destination & { agent: Agent | false, key: string }} Onward
 *
 * @typedef {object} ProxyOptions
 * @property {string} host where clients connect; localhost is served as well, for whoever started the gateway
 * @property {number} port 0: one that is free
 * @property {string} key goes with every request
 * @property {Promise<Destination>} destination requests wait until it is known
 */

/**
 * @returns the port.
 * @throws the error of `listen`, `EADDRINUSE` among them.
 */
export async function startReverseProxy(/** @type {ProxyOptions} */ options) {
  const agent = new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS });
  const port = await listen(options.host, options.port);
  if (WITH_LOCALHOST.test(options.host)) return port;
  for (const local of LOCALHOSTS.filter((host) => host !== options.host)) {
    try {
      await listen(local, port);
    } catch (error) {
      // A machine without IPv6 has one localhost.
      if (!/^(?:EADDRNOTAVAIL|EAFNOSUPPORT)$/.test(codeOf(error) ?? "")) throw error;
    }
  }
  return port;

  /** @returns {Promise<number>} */
  function listen(/** @type {string} */ host, /** @type {number} */ wanted) {
    const server = createServer(
      { maxHeaderSize: MAX_HEADER_BYTES, shouldUpgradeCallback: isForWebSocket },
      (request, response) => {
        options.destination
          .then((destination) => {
            forward(request, response, { ...destination, agent, key: options.key });
          })
          // What Node.js does not send is one request that fails, and not the end of the launcher.
          .catch(() => response.destroy());
      },
    );
    server.on("upgrade", (request, socket, head) => {
      socket.on("error", () => socket.destroy());
      options.destination
        .then((destination) => {
          forwardUpgrade(request, socket, head, { ...destination, agent: false, key: options.key });
        })
        .catch(() => socket.destroy());
    });
    server.maxHeadersCount = 0;
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(wanted, host, () => {
        const address = server.address();
        resolve(typeof address === "object" && address !== null ? address.port : wanted);
      });
    });
  }
}

/** @returns the code of an error of the system. */
export function codeOf(/** @type {unknown} */ error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code;
}

/**
 * Passes a request on, and its response back. A connection that breaks on one side is broken on
 * the other: neither side is told that something ended which did not.
 */
function forward(
  /** @type {import("node:http").IncomingMessage} */ request,
  /** @type {import("node:http").ServerResponse} */ response,
  /** @type {Onward} */ onward,
) {
  const outgoing = requestOnward(request, response, onward);
  if (outgoing === undefined) return;
  let isAnswered = false;
  response.on("close", () => {
    if (!response.writableFinished) outgoing.destroy();
  });
  outgoing.on("error", () => {
    // A request may be answered before its body has been read, and then nobody reads the rest.
    if (isAnswered) request.unpipe(outgoing).resume();
    else response.destroy();
  });
  outgoing.on("response", (incoming) => {
    isAnswered = true;
    answer(incoming, response);
  });
  request.pipe(outgoing);
}

/** Passes a request for a WebSocket on, and what comes on the connections after it. */
function forwardUpgrade(
  /** @type {import("node:http").IncomingMessage} */ request,
  /** @type {import("node:stream").Duplex} */ socket,
  /** @type {Uint8Array} */ head,
  /** @type {Onward} */ onward,
) {
  // For an answer that is none of a WebSocket.
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(/** @type {import("node:net").Socket} */ (socket));
  response.on("finish", () => socket.end());
  const outgoing = requestOnward(request, response, onward, TO_WEB_SOCKET);
  if (outgoing === undefined) return;
  socket.on("close", () => outgoing.destroy());
  outgoing.on("error", () => socket.destroy());
  outgoing.on("response", (incoming) => answer(incoming, response));
  outgoing.on("upgrade", (incoming, upstream, rest) => {
    response.detachSocket(/** @type {import("node:net").Socket} */ (socket));
    const lines = pairsOf([...endToEnd(incoming.rawHeaders, NOTHING), ...TO_WEB_SOCKET]);
    const fields = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n`);
    socket.write(rest);
    upstream.write(head);
    upstream.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
    upstream.pipe(socket).pipe(upstream);
  });
  outgoing.end();
}

/**
 * @param {readonly string[]} more headers, of this connection.
 * @returns the request, whose headers are not sent yet; `undefined` for one that is answered here.
 */
function requestOnward(
  /** @type {import("node:http").IncomingMessage} */ request,
  /** @type {import("node:http").ServerResponse} */ response,
  /** @type {Onward} */ { host, port, agent, key },
  more = /** @type {readonly string[]} */ ([]),
) {
  if (!isWellFormed(request)) {
    response.writeHead(400, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" });
    response.end("The request needs a path that begins with a slash, and one Host header.\n");
    return undefined;
  }
  const { method, url: path = "" } = request;
  // As wrangler reads it, whatever steps up are in it.
  if (new URL(`http://localhost${path}`).pathname.startsWith(WRANGLERS_OWN)) {
    response.writeHead(404, { "Content-Type": "text/plain; charset=utf-8" });
    response.end("There is nothing here. The MCP endpoint is /mcp.\n");
    request.resume();
    return undefined;
  }
  const headers = [...requestHeaders(request, key), ...more];
  return sendRequest({ host, port, agent, method, path, headers, setHost: false });
}

/** Passes a response back. */
function answer(
  /** @type {import("node:http").IncomingMessage} */ incoming,
  /** @type {import("node:http").ServerResponse} */ response,
) {
  response.sendDate = false;
  incoming.on("error", () => response.destroy());
  response.writeHead(
    incoming.statusCode ?? 502,
    incoming.statusMessage,
    endToEnd(incoming.rawHeaders, /^transfer-encoding$/i),
  );
  // The client sees the head of a stream before there is an event in it.
  response.flushHeaders();
  incoming.pipe(response);
}

function isForWebSocket(/** @type {import("node:http").IncomingMessage} */ { method, headers }) {
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket";
}

function isWellFormed(/** @type {import("node:http").IncomingMessage} */ { url = "", rawHeaders }) {
  const hosts = pairsOf(rawHeaders).flatMap(([name, value]) => (/^host$/i.test(name) ? value : []));
  const [host = ""] = hosts;
  return (
    hosts.length === 1 &&
    HOST.test(host) &&
    url.startsWith("/") &&
    URL.canParse(`http://${host}${url}`)
  );
}

/** @returns the headers of the request as they came, names and values in turn, and ours. */
function requestHeaders(
  /** @type {import("node:http").IncomingMessage} */ { rawHeaders, socket },
  /** @type {string} */ key,
) {
  const kept = pairsOf(endToEnd(rawHeaders, RESERVED)).flatMap(([name, value]) =>
    // What a client says of its address may only speak against it (`from-elsewhere.ts`).
    /^cf-connecting-ip$/i.test(name) ? ["X-Forwarded-For", value] : [name, value],
  );
  const address = (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  return [...kept, "CF-Connecting-IP", address, LAUNCHER_KEY, key];
}

/** @returns what is meant for the other end: without the headers of one connection, and `dropped`. */
function endToEnd(/** @type {readonly string[]} */ rawHeaders, /** @type {RegExp} */ dropped) {
  const pairs = pairsOf(rawHeaders);
  const listed = new Set(
    pairs
      .flatMap(([name, value]) =>
        /^connection$/i.test(name) ? value.toLowerCase().split(/\s*,\s*/) : [],
      )
      .filter((name) => !NEVER_OF_ONE_CONNECTION.has(name)),
  );
  return pairs
    .filter(
      ([name]) => !HOP_BY_HOP.test(name) && !dropped.test(name) && !listed.has(name.toLowerCase()),
    )
    .flat();
}

function pairsOf(/** @type {readonly string[]} */ rawHeaders) {
  return Array.from(
    { length: rawHeaders.length / 2 },
    (_, index) =>
      /** @type {const} */ ([rawHeaders[2 * index] ?? "", rawHeaders[2 * index + 1] ?? ""]),
  );
}
