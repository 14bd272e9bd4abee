/** The matrix: every client reaches every server through one gateway, and sees what it is to see. */

import { CELLS } from "./matrix.ts";
import { testFeatures, throughGateway } from "./matrix-suite.ts";

testFeatures(CELLS, throughGateway());
