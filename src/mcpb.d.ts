/** Bundles for Claude Desktop, which wrangler uploads as they are. */
declare module "*.mcpb" {
  const bytes: ArrayBuffer;
  export default bytes;
}
