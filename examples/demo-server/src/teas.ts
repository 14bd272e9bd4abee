// What is on the shelf. Tools, resources and prompts all speak of these six teas.

import * as z from "zod";

export interface Tea {
  name: string;
  origin: string;
  celsius: number;
  seconds: number;
  /** Leaves for one cup. */
  grams: number;
  moods: readonly string[];
  note: string;
}

export const TEA_IDS = ["sencha", "hojicha", "oolong", "assam", "puerh", "chamomile"] as const;
export type TeaId = (typeof TEA_IDS)[number];

/** The argument every tool uses for a tea. */
export const teaId = z.enum(TEA_IDS);

export const TEAS: Record<TeaId, Tea> = {
  sencha: {
    name: "Sencha",
    origin: "Shizuoka, Japan",
    celsius: 75,
    seconds: 60,
    grams: 2.5,
    moods: ["curious", "focused"],
    note: "cut grass after rain, and a little sea",
  },
  hojicha: {
    name: "Hojicha",
    origin: "Kyoto, Japan",
    celsius: 90,
    seconds: 45,
    grams: 3,
    moods: ["cosy", "tired"],
    note: "roasted leaves, toast, a wood fire three houses away",
  },
  oolong: {
    name: "Tieguanyin oolong",
    origin: "Anxi, China",
    celsius: 95,
    seconds: 40,
    grams: 4,
    moods: ["curious", "celebrating"],
    note: "orchid and warm butter; better with every pouring",
  },
  assam: {
    name: "Assam",
    origin: "Brahmaputra valley, India",
    celsius: 98,
    seconds: 210,
    grams: 2.5,
    moods: ["focused", "tired"],
    note: "malt and honey; takes milk without complaint",
  },
  puerh: {
    name: "Ripe pu-erh",
    origin: "Yunnan, China",
    celsius: 99,
    seconds: 30,
    grams: 4,
    moods: ["cosy", "celebrating"],
    note: "old library, dark cherries, forest floor",
  },
  chamomile: {
    name: "Chamomile",
    origin: "the meadow behind the house",
    celsius: 96,
    seconds: 300,
    grams: 1.5,
    moods: ["tired", "restless"],
    note: "apples and hay; the cat falls asleep first",
  },
};

export const MOODS = [...new Set(TEA_IDS.flatMap((id) => TEAS[id].moods))].toSorted();

/** The teas whose id starts with what was typed so far: how every completion here works. */
export function completeTea(typed: string): TeaId[] {
  return TEA_IDS.filter((id) => id.startsWith(typed.toLowerCase()));
}
