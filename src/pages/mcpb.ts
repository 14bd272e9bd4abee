/**
 * `/edgeway.mcpb`: `edgeway connect` as a bundle for Claude Desktop. Each build of the Worker packs it
 * (`cli/pack-mcpb.mjs`), as a module of its own that is read when somebody downloads it.
 */

const HEADERS = {
  "Content-Type": "application/octet-stream",
  "Content-Disposition": 'attachment; filename="edgeway.mcpb"',
  "Cache-Control": "no-cache",
  "X-Content-Type-Options": "nosniff",
};

export async function serveMcpb({ method }: Request): Promise<Response> {
  if (method !== "GET" && method !== "HEAD") {
    return new Response(null, { status: 405, headers: { Allow: "GET, HEAD" } });
  }
  const { default: bytes } = await import("../../cli/dist/edgeway.mcpb");
  const headers = { ...HEADERS, "Content-Length": String(bytes.byteLength) };
  return new Response(method === "HEAD" ? null : bytes, { headers });
}
