/** The least a Worker can do: what the load generator reaches at most, and what start-up costs anybody. */

export default {
  async fetch(request: Request): Promise<Response> {
    if (request.method === "GET") return new Response("ok");
    const { id, params } = (await request.json()) as Call;
    const content = [{ type: "text", text: params.arguments.text }];
    return Response.json({ jsonrpc: "2.0", id, result: { content } });
  },
};

interface Call {
  readonly id: number;
  readonly params: { readonly arguments: { readonly text: string } };
}
