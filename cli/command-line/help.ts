/** What `edgeway --help` prints. */
export const HELP = `edgeway: stdio, both ways, at an MCP gateway

  edgeway connect [URL]    relays between a host, at stdin and stdout, and the gateway
  edgeway publish NAME [--to URL] -- COMMAND ARGUMENT…
                           offers a server of this machine to your own clients, wherever they are,
                           as my-NAME at the gateway
  edgeway publish --config FILE [--to URL]
                           does so for each command in a client's map of servers ("mcpServers")
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

Options of publish:
  --env NAME               a variable of this environment that the server gets, besides PATH, HOME
                           and the like; may be given several times
  --share                  one process for all clients, in place of one for each
  --idle SECONDS           how long a process without anything to do is kept (600)

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

publish runs until it is stopped, and dials again whenever the connection breaks. Neither the
command line of a server nor its environment leaves this machine. The operator has to allow
publishing.

Only messages of the protocol go to stdout; what a person may want to read goes to stderr. The
command ends with code 0 when the host closes stdin or a person stops it, 1 when it cannot go on,
and 2 when it was called wrongly.
`;
