/** The cookies of a scripted browser (RFC 6265, and the prefixes of its successor). */

export interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly host: string;
  readonly path: string;
  readonly isSecure: boolean;
  readonly isHttpOnly: boolean;
  readonly sameSite: string;
  /** Milliseconds; `undefined` until the browser is closed. */
  readonly expiresAt: number | undefined;
}

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

export class CookieJar {
  #cookies: readonly Cookie[] = [];

  /** Everything in it that has not expired. */
  get all(): readonly Cookie[] {
    const now = Date.now();
    return this.#cookies.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
  }

  /** Takes what an answer sets. What a browser would not take is not taken. */
  take(url: URL, setCookies: readonly string[]): void {
    for (const text of setCookies) {
      const cookie = parse(url, text);
      if (cookie !== undefined) this.put(cookie);
    }
  }

  /** Puts one in, as an attacker might: in place of the one of its name, host and path. */
  put(cookie: Cookie): void {
    const isOther = ({ name, host, path }: Cookie): boolean =>
      name !== cookie.name || host !== cookie.host || path !== cookie.path;
    this.#cookies = [...this.#cookies.filter(isOther), cookie];
  }

  clear(): void {
    this.#cookies = [];
  }

  /**
   * @param isCrossSite whether the way to the URL began on, or led over, another site.
   * @returns the `Cookie` header, or `undefined` when there is nothing to send.
   */
  headerFor(url: URL, method: string, isCrossSite: boolean): string | undefined {
    const sent = this.all
      .filter(({ host, path }) => host === url.hostname && covers(path, url.pathname))
      .filter(({ isSecure }) => !isSecure || isTrusted(url))
      .filter(({ sameSite }) => {
        if (!isCrossSite || sameSite === "none") return true;
        return sameSite !== "strict" && method === "GET";
      })
      .toSorted((a, b) => b.path.length - a.path.length);
    return sent.length === 0
      ? undefined
      : sent.map(({ name, value }) => `${name}=${value}`).join("; ");
  }
}

function parse(url: URL, text: string): Cookie | undefined {
  const [pair = "", ...rest] = text.split(";");
  const equals = pair.indexOf("=");
  if (equals < 1) return undefined;
  const attributes = new Map(
    rest.map((part) => {
      const [name = "", ...value] = part.trim().split("=");
      return [name.toLowerCase(), value.join("=")];
    }),
  );
  const name = pair.slice(0, equals).trim();
  const path = attributes.get("path") ?? "";
  const maxAge = attributes.get("max-age");
  const expires = attributes.get("expires");
  const cookie = {
    name,
    value: pair.slice(equals + 1).trim(),
    host: url.hostname,
    path: path.startsWith("/") ? path : url.pathname.replace(/\/[^/]*$/, "") || "/",
    isSecure: attributes.has("secure"),
    isHttpOnly: attributes.has("httponly"),
    sameSite: attributes.get("samesite")?.toLowerCase() ?? "lax",
    expiresAt: expiryOf(maxAge, expires),
  };
  // Of what the gateway does, only a mistake would name a domain.
  if (attributes.has("domain")) return undefined;
  if (cookie.isSecure && !isTrusted(url)) return undefined;
  if (name.startsWith("__Secure-") && !cookie.isSecure) return undefined;
  if (name.startsWith("__Host-") && (!cookie.isSecure || path !== "/")) return undefined;
  return cookie;
}

function expiryOf(maxAge: string | undefined, expires: string | undefined): number | undefined {
  if (maxAge !== undefined) return Date.now() + Number(maxAge) * 1000;
  return expires === undefined ? undefined : Date.parse(expires);
}

/** Chromium and Firefox: `Secure` covers this machine without TLS. */
function isTrusted({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || LOOPBACK.has(hostname);
}

function covers(cookiePath: string, path: string): boolean {
  return path === cookiePath || path.startsWith(cookiePath.replace(/\/?$/, "/"));
}
