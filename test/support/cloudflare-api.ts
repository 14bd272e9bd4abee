/**
 * Cloudflare's API for one Worker, as far as wrangler asks for it to list secrets, to set them and to deploy:
 * wrangler itself is real, and only the account is not.
 */

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

const NO_SUCH_WORKER = { code: 10_007, message: "This Worker does not exist on your account." };

export interface CloudflareApi {
  /** What wrangler has to find it by. */
  readonly env: Readonly<Record<string, string>>;
  /** The Worker's secrets; `undefined` as long as there is no Worker. */
  secrets: Readonly<Record<string, string>> | undefined;
  /** From now on, every request fails. */
  isBroken: boolean;
  /** What was asked for that changes something, in order. */
  readonly changes: readonly string[];
  stop(): void;
}

export async function startCloudflareApi(
  secrets?: Readonly<Record<string, string>>,
): Promise<CloudflareApi> {
  const changes: string[] = [];
  const server = createServer((request, response) => {
    void answer(request).then(({ status, body }) => {
      response.writeHead(status, { "Content-Type": "application/json" });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const api = {
    env: {
      CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${port}/client/v4`,
      CLOUDFLARE_API_TOKEN: "no-token",
      CLOUDFLARE_ACCOUNT_ID: "account",
    },
    secrets,
    isBroken: false,
    changes,
    stop: () => server.close(),
  };

  async function answer(request: IncomingMessage): Promise<{ status: number; body: object }> {
    const body = await text(request);
    const { pathname } = new URL(request.url ?? "", "http://api");
    const path = pathname.replace("/client/v4/accounts/account/workers/", "");
    if (api.isBroken) return failure({ code: 10_000, message: "Authentication error" });
    if (request.method !== "GET") changes.push(`${request.method} ${path}`);
    switch (`${request.method} ${path}`) {
      case "PUT scripts/edgeway":
        api.secrets ??= {};
        return result({ id: "edgeway", startup_time_ms: 1, deployment_id: "1" });
      case "GET subdomain":
        return result({ subdomain: "someone" });
      case "GET scripts/edgeway/secrets":
        if (api.secrets === undefined) return failure(NO_SUCH_WORKER);
        return result(Object.keys(api.secrets).map((name) => ({ name, type: "secret_text" })));
      case "PATCH scripts/edgeway/secrets-bulk": {
        if (api.secrets === undefined) return failure(NO_SUCH_WORKER);
        const put = JSON.parse(body) as { secrets: Record<string, { text: string }> };
        const set = Object.entries(put.secrets).map(([name, { text: value }]) => [name, value]);
        api.secrets = { ...api.secrets, ...Object.fromEntries(set) };
        return result(put.secrets);
      }
      case "GET services/edgeway":
        if (api.secrets === undefined) return failure(NO_SUCH_WORKER);
        return result({ default_environment: { script: { last_deployed_from: "wrangler" } } });
      case "GET scripts/edgeway/deployments":
        return result({ deployments: [] });
      case "POST scripts/edgeway/versions": {
        const resources = { script: { etag: "1" } };
        return result({ id: "1", startup_time_ms: 1, resources, metadata: { has_preview: false } });
      }
      default:
        return result({ enabled: true, subdomain: { enabled: true } });
    }
  }

  return api;
}

function result(value: object): { status: number; body: object } {
  return { status: 200, body: { success: true, errors: [], messages: [], result: value } };
}

function failure(error: object): { status: number; body: object } {
  return { status: 404, body: { success: false, errors: [error], messages: [], result: null } };
}
