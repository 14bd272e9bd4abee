/** What a profile says in a screenful: by file, and by function with all that it calls. Pure. */

import type { CallFrame, CpuProfile, ProfileNode } from "./inspector.ts";

export interface Place {
  /** A function with its file and line, or a file. */
  readonly place: string;
  /** Microseconds in it, and in what it calls as well. */
  readonly selfUs: number;
  readonly totalUs: number;
}

export interface Where {
  readonly busyUs: number;
  readonly files: readonly Place[];
  readonly functions: readonly Place[];
}

/** @param name says where something was written, from where it is in the bundle. */
export function whereTimeGoes(
  { nodes, samples, timeDeltas }: CpuProfile,
  name: (frame: CallFrame) => { readonly file: string; readonly function: string },
): Where {
  const selfOf = new Map<number, number>();
  for (const [index, node] of samples.entries()) {
    selfOf.set(node, (selfOf.get(node) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const called = new Set(nodes.flatMap(({ children = [] }) => children));
  const files = new Map<string, Place>();
  const functions = new Map<string, Place>();
  let busyUs = 0;

  /** @param above the places that this is called from: a recursion counts once. */
  function visit(node: ProfileNode, above: ReadonlySet<string>): number {
    if (node.callFrame.functionName === "(idle)") return 0;
    const named = name(node.callFrame);
    const here = new Set(above).add(named.file).add(named.function);
    const selfUs = selfOf.get(node.id) ?? 0;
    let totalUs = selfUs;
    for (const child of node.children ?? []) {
      const found = byId.get(child);
      if (found !== undefined) totalUs += visit(found, here);
    }
    busyUs += selfUs;
    add(files, named.file, selfUs, above.has(named.file) ? 0 : totalUs);
    add(functions, named.function, selfUs, above.has(named.function) ? 0 : totalUs);
    return totalUs;
  }
  for (const node of nodes) if (!called.has(node.id)) visit(node, new Set());
  return { busyUs, files: [...files.values()], functions: [...functions.values()] };
}

function add(places: Map<string, Place>, place: string, selfUs: number, totalUs: number): void {
  const before = places.get(place) ?? { place, selfUs: 0, totalUs: 0 };
  places.set(place, {
    place,
    selfUs: before.selfUs + selfUs,
    totalUs: before.totalUs + totalUs,
  });
}

const WRITTEN = /\.(?:ts|js|mjs)$/;
const OWN = /^(?:src|durable-objects)\//;

/**
 * The files by whose they are: what the gateway and its libraries are written in, the functions of the platform
 * that they call, and what V8 does meanwhile.
 */
export function kindsOf(files: readonly Place[]): readonly Place[] {
  const kinds = new Map<string, Place>();
  for (const { place, selfUs } of files) add(kinds, kindOf(place), selfUs, selfUs);
  return [...kinds.values()];
}

function kindOf(file: string): string {
  if (file === "(garbage collector)") return "garbage collection";
  if (!WRITTEN.test(file)) return "the platform's functions, and the platform itself";
  return OWN.test(file) ? "the gateway" : "its libraries";
}
