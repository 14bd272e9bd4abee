/** The `Bridges` port over a Durable Object namespace. */

import type {
  ResourceListenRequest,
  Bridges,
  BridgeCommand,
  BridgeOutcome,
  CommandSender,
  WrittenBridgeOutcome,
} from "../src/relay/modern-to-legacy/bridge.ts";
import { clientKey, clientKind } from "../src/endpoint/client-kind.ts";
import { hashOf } from "../src/lib/random.ts";
import { parseLossless } from "../src/lib/lossless-json.ts";
import { SocketLines } from "../src/lib/socket-lines.ts";
import { ErrorCode } from "../src/protocol/error-codes.ts";
import { errorReply, type Reply } from "../src/protocol/json-rpc.ts";
import { LATEST_MODERN } from "../src/protocol/revisions.ts";
import { CLIENT_GONE_CODE } from "../src/sessions/frame.ts";
import { called } from "./ports.ts";

type Namespace = Env["BRIDGES"];
type Stub = ReturnType<Namespace["get"]>;

/** Only for authenticated callers: each principal's calls create objects. */
export function bridgesIn({ BRIDGES }: Pick<Env, "BRIDGES">): Bridges {
  return {
    at(principal, { slug, endpoint, credentials, assertion, publisher }, declared) {
      // Other capabilities make no difference to a server, and would create more objects.
      const kind = clientKind(LATEST_MODERN, declared);
      const { capabilities } = kind;

      const sender = async (): Promise<CommandSender> => ({
        slug,
        capabilities,
        owner: await hashOf(principal),
        ...(credentials === undefined ? {} : { vault: credentials.owner }),
        ...(assertion === undefined ? {} : { caller: assertion.caller }),
        ...(publisher === undefined ? {} : { publisher }),
      });

      async function ownStub(): Promise<Stub> {
        const parts = [principal, slug, endpoint.href, clientKey(kind)];
        // Nothing that one account was told is of use to another.
        if (credentials !== undefined) parts.push((await credentials.account()) ?? "");
        return called(BRIDGES.getByName(await hashOf(JSON.stringify(parts))));
      }

      async function stubFor(command: BridgeCommand): Promise<Stub | undefined> {
        if (command.kind === "call") return ownStub();
        return stubOf(BRIDGES, command.object);
      }

      return {
        run(command) {
          const id = crypto.randomUUID();
          // Both calls wait for the same promise, so that they arrive in order.
          const ready = Promise.all([stubFor(command), sender()]);
          const take = async (): Promise<BridgeOutcome> => {
            const [stub, from] = await ready;
            const outcome = await stub?.take(id, from, JSON.stringify(command));
            return outcome === undefined ? unknown() : readOutcome(outcome);
          };
          return {
            outcome: take(),
            async cancel() {
              const [stub] = await ready;
              await stub?.cancel(id);
            },
          };
        },
        async listenForResources(uris) {
          const [stub, from] = await Promise.all([ownStub(), sender()]);
          const { webSocket } = await stub.fetch(socketRequest());
          if (webSocket === null) throw new Error("A bridge has opened no WebSocket");
          const lines = new SocketLines(webSocket, CLIENT_GONE_CODE);
          lines.send(JSON.stringify({ sender: from, uris } satisfies ResourceListenRequest));
          return lines;
        },
      };
    },
  };
}

/** @returns `undefined` for a text that is no id of an object of this gateway. */
function stubOf(namespace: Namespace, id: string): Stub | undefined {
  try {
    return called(namespace.get(namespace.idFromString(id)));
  } catch {
    return undefined;
  }
}

function readOutcome(outcome: WrittenBridgeOutcome): BridgeOutcome {
  if (outcome.kind === "stream") return outcome;
  return { kind: "reply", reply: parseLossless(outcome.reply) as Reply };
}

function unknown(): BridgeOutcome {
  const sentence = "requestState is of a request that is not known here; call again without it";
  return { kind: "reply", reply: errorReply(ErrorCode.InvalidParams, sentence) };
}

function socketRequest(): Request {
  return new Request("https://bridge.internal/", { headers: { Upgrade: "websocket" } });
}
