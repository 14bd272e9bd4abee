/**
 * Loads the Worker under test before the clock of any test runs: on a machine that is busy, that alone
 * takes longer than a test may wait for an answer.
 */

import "../../src/index.ts";
