/** A `fetch` that notes what goes over the wire, and can break the streams that are open. */

interface Noted {
  readonly http: string;
  /** The method of the JSON-RPC message in the body, if there is one. */
  readonly rpc: string | undefined;
  readonly lastEventId: string | null;
  readonly status: number;
}

export interface Wiretap {
  readonly fetch: typeof fetch;
  /** In the order in which answers began. */
  readonly noted: readonly Noted[];
  /** Breaks the connection of every running call, or of the stream for news. */
  cut(what: "calls" | "news"): void;
}

export function wiretap(): Wiretap {
  const noted: Noted[] = [];
  const cutters = { calls: new AbortController(), news: new AbortController() };
  return {
    noted,
    cut(what) {
      cutters[what].abort(new Error("cut by the test"));
      cutters[what] = new AbortController();
    },
    async fetch(input, init = {}) {
      const { method: http = "GET", headers, body, signal } = init;
      const rpc =
        typeof body === "string" ? (JSON.parse(body) as { method?: string }).method : undefined;
      const signals = [
        ...(signal instanceof AbortSignal ? [signal] : []),
        ...(rpc === "tools/call" ? [cutters.calls.signal] : []),
        ...(http === "GET" ? [cutters.news.signal] : []),
      ];
      const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) });
      const lastEventId = new Headers(headers).get("last-event-id");
      noted.push({ http, rpc, lastEventId, status: response.status });
      return response;
    },
  };
}
