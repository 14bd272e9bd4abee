/**
 * A session's way to all servers of its endpoint, one or many. A client's messages go to the server that
 * they are for; a server's messages come back with resume tokens that lead to the server.
 */

import { logUnexpected } from "../../observability/unexpected.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, OpenQuestion, Peer } from "../../protocol/exchange.ts";
import { errorReply, type Reply } from "../../protocol/json-rpc.ts";
import type { Dispatch, Forgotten, Watched } from "../../sessions/dispatch.ts";
import { answerRequest } from "./answer-request.ts";
import { readToken } from "./asker-token.ts";
import { namingServer } from "./call-server-in-session.ts";
import type { SessionContext } from "./session-context.ts";
import { attributedPeer } from "./server-attribution.ts";
import { resumeTokensIn, readServerResumeToken } from "./server-resume-token.ts";

const PROGRESS = "notifications/progress";

export class EndpointDispatch implements Dispatch {
  readonly #context: SessionContext;

  constructor(context: SessionContext) {
    this.#context = context;
  }

  async request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    this.#context.subscriptions.seen();
    try {
      return await answerRequest(this.#context, call, { peer, signal });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const reference = logUnexpected(error);
      return errorReply(ErrorCode.InternalError, `The gateway failed (reference ${reference})`);
    }
  }

  async resume(
    resumeToken: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked: readonly OpenQuestion[] = [],
  ): Promise<Reply> {
    const { servers, isMerged } = this.#context.requestScope.endpoint;
    const led = readServerResumeToken(resumeToken);
    const slug = led?.slug ?? (isMerged ? undefined : servers[0].slug);
    const dispatch = slug === undefined ? undefined : this.#context.servers.find(slug);
    if (slug === undefined || dispatch === undefined) {
      const whom = slug === undefined ? "A call" : `A call of upstream "${slug}"`;
      const message = `${whom} was being waited for when the gateway restarted; the result is unknown`;
      return errorReply(ErrorCode.InternalError, message);
    }
    const reply = await dispatch.resume(
      led?.resumeToken,
      attributedPeer(peer, this.#context.servers.attribution(slug)),
      signal,
      asked.flatMap(({ resumeToken, wait }) => {
        const own = readServerResumeToken(resumeToken)?.resumeToken;
        return own === undefined ? [] : [{ resumeToken: own, wait }];
      }),
    );
    return isMerged ? namingServer(reply, slug) : reply;
  }

  async answer(resumeToken: string, reply: Reply): Promise<boolean> {
    const led = readServerResumeToken(resumeToken);
    const dispatch = led === undefined ? undefined : this.#context.servers.find(led.slug);
    if (led?.resumeToken === undefined || dispatch === undefined) return true;
    return dispatch.answer(led.resumeToken, reply);
  }

  async notify(call: Call): Promise<void> {
    const { requestScope, servers } = this.#context;
    if (call.method === PROGRESS) {
      await this.#notifyAsker(call);
    } else if (!requestScope.endpoint.isMerged) {
      await servers.at(requestScope.endpoint.servers[0]).notify(call);
    } else {
      // A server that is opened later does not need the notification.
      const opened = [...servers.opened()];
      await Promise.allSettled(opened.map(({ dispatch }) => dispatch.notify(call)));
    }
  }

  /** Sends a client's progress on a question to the server that asked it. */
  async #notifyAsker({ method, params }: Call): Promise<void> {
    const asker = readToken(params?.["progressToken"]);
    if (asker === undefined) return;
    const progress = { method, params: { ...params, progressToken: asker.token } };
    await this.#context.servers.find(asker.slug)?.notify(progress);
  }

  async listen(resumeToken: string | undefined): Promise<void> {
    const places = resumeTokensIn(resumeToken);
    await Promise.all(
      this.#listened().map(({ slug, dispatch }) => dispatch.listen(places.get(slug))),
    );
  }

  unlisten(): void {
    for (const dispatch of this.#context.servers.all()) dispatch.unlisten();
  }

  async watched(
    resumeToken: string | undefined,
    onUnreachable?: () => void,
  ): Promise<object | undefined> {
    const places = resumeTokensIn(resumeToken);
    const listened = this.#listened();
    const orders = await Promise.all(
      listened.map(async ({ slug, dispatch }) => {
        const order = await dispatch.watched(places.get(slug)).catch(() => {
          onUnreachable?.();
          return undefined;
        });
        return order === undefined ? undefined : ([slug, order] as const);
      }),
    );
    const handedOver = orders.filter((order) => order !== undefined);
    // With nothing to hand over, the streams stay open here.
    return handedOver.length === 0 && listened.some(({ dispatch }) => dispatch.isSilent !== true)
      ? undefined
      : Object.fromEntries(handedOver);
  }

  handedOver(slug: string): void {
    this.#context.servers.find(slug)?.handedOver(slug);
  }

  async receive(watched: Watched): Promise<void> {
    const { slug, known } = watched;
    const own = { ...watched, known: resumeTokensIn(known).get(slug) };
    await this.#context.servers.find(slug)?.receive(own);
  }

  async forgotten(lost: Forgotten): Promise<void> {
    await this.#context.servers.find(lost.slug)?.forgotten(lost);
  }

  async close(): Promise<void> {
    const { servers, subscriptions } = this.#context;
    const closing = [...servers.all()].map((dispatch) => dispatch.close());
    await Promise.allSettled([...closing, subscriptions.end()]);
  }

  /** The servers that may send messages on their own. With several, listening opens no session. */
  #listened(): readonly { readonly slug: string; readonly dispatch: Dispatch }[] {
    const { requestScope, servers } = this.#context;
    const [only] = requestScope.endpoint.servers;
    return requestScope.endpoint.isMerged
      ? [...servers.opened()]
      : [{ slug: only.slug, dispatch: servers.at(only) }];
  }
}
