/** What `edgeway --help` prints. */
export const HELP = `edgeway: reach an MCP gateway from a host that can only start commands

  edgeway connect [URL]    relays between the host, at stdin and stdout, and the gateway
  edgeway --version

URL is an endpoint of the gateway, as https://mcp.example.com/mcp for all of its servers, or
https://mcp.example.com/mcp/docs for one. An origin alone stands for its /mcp. http is for this
machine only.

Options of connect:
  --deadline SECONDS       how long a message waits for a gateway that cannot be reached, before it
                           is answered with an error (50)

Environment:
  EDGEWAY_URL              the URL, where none is given. Some hosts mangle arguments
  EDGEWAY_KEY              an API key, made at /account of the gateway

In a host's configuration:
  { "mcpServers": { "edgeway": {
      "command": "node", "args": ["/path/to/edgeway/cli/edgeway.mjs", "connect"],
      "env": { "EDGEWAY_URL": "https://mcp.example.com/mcp" } } } }

Only messages of the protocol go to stdout; what a person may want to read goes to stderr. The
command ends with code 0 when the host closes stdin, 1 when it cannot go on, and 2 when it was
called wrongly.
`;
