// Conventions that the compiler and the linter do not check. Each function returns the violations that it finds in a
// folder.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const maxLines = 400
const notOurs = new Set(['node_modules', '.git', 'dist', 'data', 'coverage'])
const binary = /\.(?:png|jpe?g|gif|ico|webp|woff2?|ttf|pdf|db|sqlite|gz|zip|wasm|mp3|wav)$/i

function walk(base: string, folder = ''): string[] {
  return readdirSync(join(base, folder), { withFileTypes: true }).flatMap((entry) => {
    if (notOurs.has(entry.name)) return []
    const path = folder ? `${folder}/${entry.name}` : entry.name
    return entry.isDirectory() ? walk(base, path) : entry.isFile() ? [path] : []
  })
}

/** The files that are or would be committed. Outside a clone, these are all files. */
export function repositoryFiles(base: string): string[] {
  if (!existsSync(join(base, '.git'))) return walk(base)
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: base,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  return listed.split('\0').filter((path) => path !== '' && existsSync(join(base, path)))
}

function matching(base: string, pattern: RegExp, among = (_path: string) => true): string[] {
  return repositoryFiles(base)
    .filter((path) => !binary.test(path) && among(path))
    .flatMap((path) =>
      readFileSync(join(base, path), 'utf8')
        .split('\n')
        .flatMap((line, index) => {
          const found = pattern.exec(line)
          return found ? [`${path}:${index + 1}: ${found[0]}`] : []
        }),
    )
}

/**
 * Source files that are too long. Tests, migrations, generated code and recordings are exempt, because they are read
 * differently.
 */
export function longFiles(base: string): string[] {
  const free = /\.test\.tsx?$|^test\/|^bench\/|\/migrations\/|\.gen\.|(?:^|\/)generated\/|(?:^|\/)fixtures\//
  return repositoryFiles(base)
    .filter((path) => /^(?:contract|server|console|tools)\/.*\.(?:tsx?|mjs)$/.test(path) && !free.test(path))
    .map((path) => ({ path, lines: readFileSync(join(base, path), 'utf8').replace(/\n$/, '').split('\n').length }))
    .filter(({ lines }) => lines > maxLines)
    .map(({ path, lines }) => `${path}: ${lines} lines`)
}

/** Paths on somebody's machine. They do not work elsewhere, and reveal where the work was done. */
export function machinePaths(base: string): string[] {
  const roots = ['work', 'tmp', 'root', String.raw`home/\w+`, String.raw`Users/\w+`].join('|')
  return matching(base, new RegExp(String.raw`(?<![\w.$}*-])/(?:${roots})/[\w.*-]*`))
}

/**
 * Hosts of registries. Packages must come from the registry for which npm is configured, but a host in the lock file
 * would tie everyone to that host.
 */
export function registryHosts(base: string): string[] {
  const hosts = [
    String.raw`registry\.(?:npmjs|yarnpkg|npmmirror|npm\.taobao)\b`,
    String.raw`npm\.pkg\.github\b`,
    String.raw`\b(?:files\.pythonhosted|pypi)\.org`,
    `"resolved": "(?:https?|git)[^"]*"`,
  ]
  return matching(base, new RegExp(hosts.join('|')), (path) => path !== 'tools/repo-rules.ts')
}

/** Uses of Bun through `globalThis`. The linter finds only uses of the plain name `Bun`. */
export function hiddenBun(base: string): string[] {
  const free =
    /^server\/(?:main|relay\/(?:upstream\/)?send|store\/connection\/process-settings|store\/(?:[^/]*\/)?[^/]*sqlite[^/]*|import\/(?:sources\/sqlite-source|collect-memory)|lib\/(?:secrets\/)?password)\.ts$|\.test\.tsx?$/
  const inside = (path: string) => /^(?:contract|server|console)\/.*\.tsx?$/.test(path) && !free.test(path)
  return matching(base, /globalThis(?:\.|\[['"])Bun\b/, inside)
}

/**
 * Decisions must be named like 0001-name.md, be numbered without gaps or repeats, and have a date in the first lines.
 */
export function decisionFaults(base: string): string[] {
  const folder = join(base, 'docs/decisions')
  const names = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name !== 'README.md').sort()
  if (names.length === 0) return ['docs/decisions is empty']
  return names.flatMap((name, index) => {
    const number = /^(\d{4})-[a-z0-9]+(?:-[a-z0-9]+)*\.md$/.exec(name)?.[1]
    if (!number) return [`${name}: not named like 0001-one-package.md`]
    const faults = Number(number) === index + 1 ? [] : [`${name}: ${String(index + 1).padStart(4, '0')} was expected`]
    const top = readFileSync(join(folder, name), 'utf8').split('\n').slice(0, 8).join('\n')
    return /\b20\d\d-[01]\d-[0-3]\d\b/.test(top)
      ? faults
      : [...faults, `${name}: no date (2001-02-03) in its first lines`]
  })
}

/** The codes in the first column of a page's tables. */
export function documentedCodes(markdown: string): string[] {
  return [...markdown.matchAll(/^\| *`([^`]+)`/gm)].map((row) => row[1] ?? '')
}

export function differences(code: readonly string[], docs: readonly string[]): string[] {
  return [
    ...code.filter((name) => !docs.includes(name)).map((name) => `${name}: not documented`),
    ...docs.filter((name) => !code.includes(name)).map((name) => `${name}: documented, but not in the code`),
    ...repeated(docs).map((name) => `${name}: documented twice`),
  ]
}

export function repeated<T>(values: readonly T[]): T[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))]
}
