/** One upstream as the federation knows it: how it is reached, and how its things appear here. */

import type { ItemPolicy } from "../policy/item-policy.ts";
import type { UpstreamTarget } from "../upstream/target.ts";

export interface Server {
  /** The operator's name of it, as in `target`. */
  readonly slug: string;
  readonly target: UpstreamTarget;
  /** What its names begin with where several servers meet. */
  readonly prefix: string;
  readonly tools: ItemPolicy;
  readonly prompts: ItemPolicy;
  readonly resources: ItemPolicy;
}
