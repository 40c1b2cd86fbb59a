// Makes sure that the bad writing habits in docs/words.md do not increase. It counts them in comments, test titles and
// pages, and compares the counts with tools/words.json. "--update" writes the current counts, which may only fall.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { repositoryFiles } from './repo-rules.ts'

const root = resolve(import.meta.dir, '..')

const kept = join(root, 'tools/words.json')

/** The habits that a program can detect, by their names in docs/words.md. */
const habits: Readonly<Record<string, RegExp>> = {
  'stands for is': /\b[Ss]tands? (?:in|at|below|beside|behind|above|here|there|whole)\b/g,
  'who without a noun': /(?:^|[.;:*] )Who (?!is\b|are\b|was\b|owns\b|may\b|imports\b)[a-z]+\b/g,
  anew: /\banew\b/gi,
  meanwhile: /\bmeanwhile\b/gi,
  'as far as': /\bas far as\b/gi,
  'of which': /\bof which\b/gi,
  'dear for expensive': /\bdear(?:er|est)?\b/gi,
  'but for': /\bbut for\b/gi,
  'that is none': /\bthat (?:is|are) none\b/gi,
}

/** The prose of a file: comments and test titles of code, and the text of a page. */
function proseOf(path: string, text: string): string {
  if (path.endsWith('.md')) return text
  return text
    .split('\n')
    .filter((line) => /^\s*(?:\/\/|\/?\*)|\/\/ |\b(?:test|describe)(?:\.each)?\(/.test(line))
    .join('\n')
}

/** The lines that contain each habit. */
export function habitsIn(files: readonly (readonly [path: string, text: string])[]): Map<string, string[]> {
  const found = new Map<string, string[]>(Object.keys(habits).map((habit) => [habit, []]))
  for (const [path, text] of files)
    for (const line of proseOf(path, text).split('\n'))
      for (const [habit, pattern] of Object.entries(habits))
        for (const _ of line.matchAll(pattern)) found.get(habit)?.push(`${path}: ${line.trim()}`)
  return found
}

/** A sentence for each habit that occurs more often than the stored count in `before`. */
export function grown(
  found: ReadonlyMap<string, readonly string[]>,
  before: Readonly<Record<string, number>>,
): string[] {
  return [...found].flatMap(([habit, lines]) =>
    lines.length > (before[habit] ?? 0)
      ? [`"${habit}" is in ${lines.length} lines, ${before[habit] ?? 0} are known: docs/words.md has better forms`]
      : [],
  )
}

function readable(): [path: string, text: string][] {
  const isProse = (path: string) =>
    /\.(?:tsx?|mjs|md)$/.test(path) &&
    !/^docs\/(?:decisions\/|words\.md)|^CHANGELOG|^console\/messages\/|\.gen\.|^README\.(?:zh|ja)/.test(path)
  return repositoryFiles(root)
    .filter(isProse)
    .map((path) => [path, readFileSync(join(root, path), 'utf8')])
}

if (import.meta.main) {
  const found = habitsIn(readable())
  if (process.argv.includes('--list')) console.log([...found.values()].flat().join('\n'))
  else if (process.argv.includes('--update')) {
    const counts = Object.fromEntries([...found].map(([habit, lines]) => [habit, lines.length]))
    writeFileSync(kept, `${JSON.stringify(counts, undefined, 2)}\n`)
  } else {
    const faults = grown(found, JSON.parse(readFileSync(kept, 'utf8')) as Record<string, number>)
    if (faults.length > 0) console.log(faults.join('\n'))
    process.exitCode = faults.length > 0 ? 1 : 0
  }
}
