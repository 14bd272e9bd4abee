/** The official SDK 1.x signs its user in, over Streamable HTTP and over HTTP+SSE. */

import { SDK_V1 } from "../support/oauth-sdk-v1.ts";
import { signInSuite } from "./sign-in-suite.ts";

signInSuite(SDK_V1);
