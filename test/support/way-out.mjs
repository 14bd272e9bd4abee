/**
 * A Worker, and not a test: all that the Worker under test sends out goes through it. Scripted
 * upstreams are reached as they are; every other host in the world is played by the canary.
 */

export default {
  /**
   * @param {Request} request
   * @param {{ readonly CANARY: string }} env
   */
  fetch(request, env) {
    const { protocol, hostname, port } = new URL(request.url);
    const isUpstream =
      protocol === "http:" && port !== "" && ["localhost", "127.0.0.1"].includes(hostname);
    if (isUpstream) return fetch(request);
    const { method, body } = request;
    const headers = new Headers(request.headers);
    headers.set("X-Canary-Url", request.url);
    return fetch(`${env.CANARY}/played`, { method, headers, body, redirect: "manual" });
  },
};
