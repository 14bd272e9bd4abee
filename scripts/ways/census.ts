/** What the source of a checkout counts: files, lines, and names that stand for more than one thing. Pure. */

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface Census {
  readonly files: number;
  readonly lines: number;
  /** With how often each is exported; of those that are exported twice or more. */
  readonly exportedTwice: ReadonlyMap<string, number>;
  readonly baseNamesTwice: ReadonlyMap<string, number>;
}

const EXPORT =
  /^export (?:declare )?(?:default )?(?:async |abstract )?(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm;

export function censusOf(files: readonly SourceFile[]): Census {
  const exported = files.flatMap(({ text }) =>
    // A type and a value of one name in one file are one thing.
    [...new Set([...text.matchAll(EXPORT)].map(([, name = ""]) => name))],
  );
  return {
    files: files.length,
    lines: files.reduce((sum, { text }) => sum + (text.match(/\n/g)?.length ?? 0), 0),
    exportedTwice: repeated(exported),
    baseNamesTwice: repeated(files.map(({ path }) => path.slice(path.lastIndexOf("/") + 1))),
  };
}

function repeated(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const often = [...counts].filter(([, count]) => count > 1);
  return new Map(often.toSorted(([a, m], [b, n]) => n - m || a.localeCompare(b)));
}
