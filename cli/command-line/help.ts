/** What `edgeway --help` prints. */
export const HELP = `edgeway: reach an MCP gateway from a host that can only start commands

  edgeway connect [URL]    relays between the host, at stdin and stdout, and the gateway
  edgeway login [URL]      signs in, with a browser on this machine or on another one
  edgeway logout [URL]     ends that login, here and at the gateway
  edgeway status [URL]     says whether connect would work, and what to do if it would not
  edgeway --version

URL is an endpoint of the gateway, as https://mcp.example.com/mcp for all of its servers, or
https://mcp.example.com/mcp/docs for one. An origin alone stands for its /mcp. http is for this
machine only.

Options of connect:
  --deadline SECONDS       how long a message waits for a gateway that cannot be reached, before it
                           is answered with an error (50)

Environment:
  EDGEWAY_URL              the URL, where none is given. Some hosts mangle arguments
  EDGEWAY_KEY              an API key, made at /account of the gateway: for where nobody can sign in
  EDGEWAY_STATE            the folder of the logins, in place of the system's own
  BROWSER                  the program that opens pages; none, to open none

In a host's configuration:
  { "mcpServers": { "edgeway": {
      "command": "node", "args": ["/path/to/edgeway/cli/edgeway.mjs", "connect"],
      "env": { "EDGEWAY_URL": "https://mcp.example.com/mcp" } } } }

connect signs in by itself: its first start opens one page, for all processes together. Later,
errors name the page. A login is renewed as long as it is used.

Only messages of the protocol go to stdout; what a person may want to read goes to stderr. The
command ends with code 0 when the host closes stdin, 1 when it cannot go on, and 2 when it was
called wrongly.
`;
