/** Some plans in which everything happens at the few moments that some defects need. */

import type { Random } from "../platform/random.ts";
import { withNews } from "./news.ts";
import type { Plan } from "./plan.ts";
import { withQuestions } from "./questions.ts";

export function narrowed(plan: Plan, random: Random): Plan {
  if (random.chance(0.05)) return withQuestions(plan, random);
  return random.chance(0.1) ? withNews(plan, random) : plan;
}
