// Finds the files that the first view of each page needs, from the routes of the console and from the build's output.
import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import type { Rolldown } from 'vite'
import { roles } from '../contract/roles.ts'

type Bundle = Rolldown.OutputBundle

/**
 * The table as written into the page's first script, except for `paths`. Files are named without folder and extension.
 */
export interface FirstParts {
  /** The files that pages load in addition to the entry. */
  files: string[]
  /** The message files of each area: English, then Chinese. */
  words: string[]
  /**
   * The first matching pattern applies; the last matches everything. `role` is the lowest role that sees the page,
   * `parts` are indexes into `files`, `areas` are indexes of pairs of `words`.
   */
  routes: [pattern: string, role: number, parts: number[], areas: number[], ofUsers?: number[]][]
  /** The routes as the console names them, in the same order, and whether they are inside its shell. */
  paths: { path: string; inShell: boolean }[]
}

interface Route {
  parent: string
  path: string | undefined
  guarded: boolean
  /** The page's module with its path, as `routes.tsx` names it. */
  page: string | undefined
  areas: string[]
}

/** The frame around pages, including those of administrators, as `routes.tsx` names it. */
const shell = './shell.tsx'
const adminOnly = './admin-only.tsx'

const listed = (text: string) => [...text.matchAll(/'([^']+)'/g)].map((match) => match[1] ?? '')

/** The routes, keyed by the names of their constants. */
function readRoutes(source: string): Map<string, Route> {
  const all = (pattern: RegExp) =>
    [...source.matchAll(pattern)].map(([, name = '', value = '']) => [name, value] as const)
  const groups = new Map(all(/const (\w+): readonly Area\[\] = (\[[^\]]*\])/g))
  const pages = new Map(all(/const (\w+) = async \(\) => \(await import\('([^']+)'\)\)/g))
  const routes = new Map<string, Route>()
  for (const [name, body] of all(/const (\w+) = createRoute\((\{[\s\S]*?\n?\})\)\n/g)) {
    const [, own, shared, areas = ''] =
      /lazyPage\(\s*(?:async \(\) => \(await import\('([^']+)'\)\)[.\w]*|(\w+)),\s*(\[[^\]]*\])/.exec(body) ?? []
    const spread = [...areas.matchAll(/\.\.\.(\w+)/g)].flatMap((match) => listed(groups.get(match[1] ?? '') ?? ''))
    routes.set(name, {
      parent: /getParentRoute: \(\) => (\w+)/.exec(body)?.[1] ?? '',
      path: /\bpath: '([^']+)'/.exec(body)?.[1],
      guarded: /beforeLoad: guard\b/.test(body),
      page: own ?? pages.get(shared ?? ''),
      areas: [...listed(areas), ...spread],
    })
  }
  return routes
}

/** A route followed by its parents, the innermost first. */
function withParents(routes: ReadonlyMap<string, Route>, route: Route): Route[] {
  const parent = routes.get(route.parent)
  return parent ? [route, ...withParents(routes, parent)] : [route]
}

/** The table for a build. `ofUsers` are additional modules that pages load at once for logged-in users. */
export function firstParts(
  routesFile: string,
  bundle: Bundle,
  ofUsers: Readonly<Record<string, readonly string[]>>,
): FirstParts {
  const chunks = Object.values(bundle).filter((each) => each.type === 'chunk')
  const byModule = new Map(chunks.flatMap((chunk) => chunk.moduleIds.map((id) => [id, chunk.fileName] as const)))
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const closure = (name: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(name)) return seen
    seen.add(name)
    for (const next of byName.get(name)?.imports ?? []) closure(next, seen)
    return seen
  }
  const entry = new Set(chunks.filter((chunk) => chunk.isEntry).flatMap(({ fileName }) => [...closure(fileName)]))
  const files: string[] = []
  const bareName = (name: string) => name.replace(/^assets\/|\.js$/g, '')
  const fileIndex = (name: string) => {
    const bare = bareName(name)
    return files.includes(bare) ? files.indexOf(bare) : files.push(bare) - 1
  }
  const folder = dirname(routesFile)
  const fileOf = (module: string) => {
    const file = byModule.get(resolve(folder, module))
    if (file === undefined) throw new Error(`${relative('.', resolve(folder, module))} is not in the build`)
    return file
  }
  const fileIndexesOf = (modules: readonly string[]) =>
    [...new Set(modules.flatMap((module) => [...closure(fileOf(module))]))]
      .filter((name) => !entry.has(name))
      .map(fileIndex)

  const source = readFileSync(routesFile, 'utf8')
  const routes = readRoutes(source)
  const areas: string[] = []
  const areaIndex = (area: string) => (areas.includes(area) ? areas.indexOf(area) : areas.push(area) - 1)
  const rows = [...routes.values()].flatMap(
    (route): (FirstParts['paths'][number] & { row: FirstParts['routes'][number] })[] => {
      if (route.path === undefined) return []
      const around = withParents(routes, route)
      const modules = around.flatMap(({ page }) => page ?? [])
      const pattern = route.path === '$' ? '.*' : route.path.replaceAll(/\$\w+/g, '[^/]+')
      const forAdmins = around.some(({ page }) => page === adminOnly)
      const role = forAdmins ? roles.admin : around.some((each) => each.guarded) ? roles.user : 0
      const words = [...new Set(['common', ...around.flatMap((each) => each.areas)])].map(areaIndex)
      const parts = fileIndexesOf(modules)
      const more = fileIndexesOf(ofUsers[route.path] ?? []).filter((part) => !parts.includes(part))
      const row = [pattern, role, parts, words] as const
      const inShell = around.some(({ page }) => page === shell)
      return [{ path: route.path, inShell, row: more.length > 0 ? [...row, more] : [...row] }]
    },
  )
  if (rows.length !== source.match(/\bpath: '/g)?.length) throw new Error('a route of the console cannot be read')
  rows.sort((a, b) => Number(a.path === '$') - Number(b.path === '$'))
  const messages = (area: string) => ['en', 'zh'].map((language) => fileOf(`../messages/${area}.${language}.ts`))
  return {
    files,
    words: areas.flatMap(messages).map(bareName),
    routes: rows.map(({ row }) => row),
    paths: rows.map(({ path, inShell }) => ({ path, inShell })),
  }
}
