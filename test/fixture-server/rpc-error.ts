// JSON-RPC errors that answer no particular request. MCP forbids `id: null`, which JSON-RPC and
// the SDK use there; the fixture leaves the id out instead.

/** An HTTP error whose JSON-RPC body carries no id. */
export function rpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message } }, { status });
}

/** The same response, with a null id taken out of a JSON error body. */
export async function withoutNullId(response: Response): Promise<Response> {
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  if (response.status < 400 || !isJson) return response;
  const text = await response.text();
  const body: unknown = JSON.parse(text);
  const { status, headers } = response;
  headers.delete("content-length");
  if (typeof body !== "object" || body === null || !("id" in body) || body.id !== null) {
    return new Response(text, { status, headers });
  }
  const { id: _, ...rest } = body;
  return new Response(JSON.stringify(rest), { status, headers });
}
