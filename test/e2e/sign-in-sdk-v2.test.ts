/** The official SDK 2.x signs its user in, in either era, and while it finds out which. */

import { SDK_V2 } from "../support/oauth-sdk-v2.ts";
import { signInSuite } from "./sign-in-suite.ts";

signInSuite(SDK_V2);
