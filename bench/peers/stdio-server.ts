/** The same server over standard input and output: what the proxies stand in front of. */

import { serveStdio } from "@modelcontextprotocol/server/stdio";

import { buildServer } from "./build-server.ts";

serveStdio(() => buildServer());
