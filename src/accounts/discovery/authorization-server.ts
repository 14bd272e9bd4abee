/**
 * Authorization server metadata (RFC 8414, OpenID Connect Discovery 1.0), at the addresses and in the
 * order of 2026-07-28 (authorization, Authorization Server Metadata Discovery).
 */

import { loadMetadata, type MetadataAccess } from "./load-metadata.ts";
import {
  checkServerMetadata,
  isIssuer,
  type MetadataDemands,
  type MetadataOutcome,
} from "./server-metadata.ts";

/**
 * @param listed the issuer, as the server's metadata lists it.
 * @param expected the issuer that the document has to have.
 */
export async function readAuthorizationServer(
  listed: string,
  expected: string,
  { access, demands }: { access: MetadataAccess; demands: MetadataDemands },
): Promise<MetadataOutcome> {
  for (const url of issuerMetadataUrls(listed)) {
    // oxlint-disable-next-line no-await-in-loop -- the next one must not be asked if there is this one
    const loaded = await loadMetadata(url, access);
    switch (loaded.kind) {
      case "document": {
        const { issuer } = loaded.document;
        if (!isIssuer(issuer, expected)) return { kind: "failed", trouble: "other-issuer" };
        return checkServerMetadata(loaded.document, issuer, demands);
      }
      case "invalid":
        return { kind: "failed", trouble: "bad-issuer-metadata" };
      case "unreachable":
        // Some proxies answer 502 to paths that the server behind them does not know.
        if (loaded.status === 502) continue;
        return { kind: "failed", trouble: "issuer-unreachable" };
      case "absent":
    }
  }
  return { kind: "failed", trouble: "bad-issuer-metadata" };
}

/**
 * With a path, the well-known part goes before it (both kinds of document), then behind it (OpenID
 * Connect); the origin's own documents are those of another issuer then.
 */
function issuerMetadataUrls(listed: string): readonly URL[] {
  if (!URL.canParse(listed)) return [];
  const { origin, pathname, protocol } = new URL(listed);
  if (!protocol.startsWith("http")) return [];
  const path = pathname.replace(/\/$/, "");
  const oauth = `/.well-known/oauth-authorization-server${path}`;
  const oidc = `${path}/.well-known/openid-configuration`;
  const paths =
    path === "" ? [oauth, oidc] : [oauth, `/.well-known/openid-configuration${path}`, oidc];
  return paths.map((path) => new URL(origin + path));
}
