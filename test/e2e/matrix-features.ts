/** Every feature of the matrix, in the order of `docs/eras.md`. */

import type { Feature } from "./matrix.ts";
import { NOTIFICATIONS } from "./matrix-notifications.ts";
import { QUESTIONS } from "./matrix-questions.ts";
import { RESULTS } from "./matrix-results.ts";

export const FEATURES: readonly Feature[] = [...RESULTS, ...NOTIFICATIONS, ...QUESTIONS];
