/**
 * What the official suite starts as the client under test, once for each scenario: it hands the scenario to the
 * test that has started the suite, and ends as that test says.
 */

import { argv, env, exit, stderr } from "node:process";

const { MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_PROTOCOL_VERSION, MCP_CONFORMANCE_CONTEXT } = env;
const response = await fetch(argv[2] ?? "", {
  method: "POST",
  body: JSON.stringify({
    name: MCP_CONFORMANCE_SCENARIO,
    revision: MCP_CONFORMANCE_PROTOCOL_VERSION,
    url: argv.at(-1),
    context: JSON.parse(MCP_CONFORMANCE_CONTEXT ?? "{}") as unknown,
  }),
});
stderr.write(await response.text());
exit(response.ok ? 0 : 1);
