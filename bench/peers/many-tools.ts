/** As many tools as somebody asks for, as large as those of `test/support/big-catalog.ts`. */

import { z } from "zod";

export interface Tool {
  readonly name: string;
  readonly config: {
    readonly title: string;
    readonly description: string;
    readonly inputSchema: z.ZodObject;
  };
}

export function manyTools(count: number): readonly Tool[] {
  return Array.from({ length: count }, (_, n) => toolOf(`tool_${n}`));
}

function toolOf(name: string): Tool {
  const argument = (n: number): z.ZodString =>
    z
      .string()
      .describe(`What the ${n}. argument of ${name} is about, in one sentence that is not short.`);
  return {
    name,
    config: {
      title: `The tool ${name}`,
      description:
        `Does what ${name} does, with four arguments, and says so at some length. `.repeat(3),
      inputSchema: z.object({
        argument1: argument(1),
        argument2: argument(2).optional(),
        argument3: argument(3).optional(),
        argument4: argument(4).optional(),
      }),
    },
  };
}
