/** Who calls this MCP server? Verifies the assertion that Edgeway sends with each request. */

import { createRemoteJWKSet, jwtVerify } from "jose";

/**
 * @param {string} gateway the origin of the gateway, like `https://mcp.example.com`.
 * @param {string} audience as configured: the URL of this server, unless `identity.audience` says otherwise.
 */
export function callerVerifier(gateway, audience) {
  const keys = createRemoteJWKSet(new URL("/.well-known/jwks.json", gateway));
  const expected = {
    issuer: gateway,
    audience,
    typ: "edgeway-identity+jwt",
    algorithms: ["ES256"],
  };

  /**
   * @param {Headers} headers of the request.
   * @returns the claims: `sub`, `client_id`, …
   * @throws for a request that the gateway did not send.
   */
  return async function callerOf(headers) {
    const assertion = headers.get("Edgeway-Assertion");
    if (assertion === null) throw new Error("The request did not come through the gateway");
    const { payload } = await jwtVerify(assertion, keys, expected);
    return payload;
  };
}
