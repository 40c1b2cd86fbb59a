// Finds the files that the first view of each page needs, from the console's table of pages and the build's output.
import { join, relative } from 'node:path'
import type { Rolldown } from 'vite'
import { languageCodes } from '../console/lib/languages.ts'
import { loadFresh } from './load-fresh.ts'

type Bundle = Rolldown.OutputBundle

/**
 * The table that is written into the page's first script. File names have no folder and no extension. The first
 * matching pattern applies. The last pattern matches everything.
 */
export interface FirstParts {
  /** The script files that pages need. */
  files: string[]
  languages: string[]
  /** The areas of messages that pages need. Each area has one file per language. */
  areas: string[]
  /** The hash in the file names of each language; see `catalogueFile`. */
  hashes: string[]
  /**
   * The routes in the order of the pages. `role` is the lowest role that sees the page. `parts` are indexes into
   * `files`, and `areas` are indexes into the list `areas`.
   */
  routes: [pattern: string, role: number, parts: number[], areas: number[], ofUsers?: number[]][]
}

/**
 * The fields of `console/app/pages.ts` that the build reads. If this type and that table disagree, `pages.test.ts` does
 * not compile.
 */
export interface PageTable {
  pages: readonly ListedPage[]
  layouts: Readonly<Record<ListedPage['for'], { role: number; modules: readonly string[]; areas: readonly string[] }>>
}

interface ListedPage {
  path: string
  file: string
  for: 'visitors' | 'everybody' | 'users' | 'admins'
  areas: readonly string[]
  early?: readonly string[]
  menu?: object
  heading?: {
    title: string
    text?: string
    width?: 'full' | 'narrow'
    unless?: { stored?: string; query?: string }
  }
}

/** Loads the table of pages from the folder of the console. */
export async function readPages(folder: string): Promise<PageTable> {
  return (await loadFresh(join(folder, 'app/pages.ts'))) as unknown as PageTable
}

/** The name of a file of messages, without folder and extension. `parts-boot.js` builds it in the same way. */
export function catalogueFile(area: string, language: string, hash: string): string {
  return `${area}.${language}-${hash}`
}

/** The table for a build of the console in `folder`. */
export function firstParts({ pages, layouts }: PageTable, folder: string, bundle: Bundle): FirstParts {
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
  const place = (name: string) => {
    const bare = bareName(name)
    return files.includes(bare) ? files.indexOf(bare) : files.push(bare) - 1
  }
  const fileOf = (module: string) => {
    const file = byModule.get(join(folder, module))
    if (file === undefined) throw new Error(`${relative('.', join(folder, module))} is not in the build`)
    return file
  }
  const placesOf = (modules: readonly string[]) =>
    [...new Set(modules.flatMap((module) => [...closure(fileOf(module))]))]
      .filter((name) => !entry.has(name))
      .map(place)
  const areas: string[] = []
  const areaPlace = (area: string) => (areas.includes(area) ? areas.indexOf(area) : areas.push(area) - 1)

  const rowOf = (pattern: string, audience: ListedPage['for'], page?: ListedPage): FirstParts['routes'][number] => {
    const layout = layouts[audience]
    const around = layout.modules.map((module) => `app/${module}`)
    const parts = placesOf(page ? [`pages/${page.file}.page.tsx`, ...around] : around)
    const words = [...new Set(['common', ...(page?.areas ?? []), ...layout.areas])].map(areaPlace)
    const early = (page?.early ?? []).map((module) => `pages/${module}`)
    const more = placesOf(early).filter((part) => !parts.includes(part))
    return more.length > 0 ? [pattern, layout.role, parts, words, more] : [pattern, layout.role, parts, words]
  }
  const ofPages = pages.map((page) => rowOf(page.path.replaceAll(/\$\w+/g, '[^/]+'), page.for, page))
  const routes = [...ofPages, rowOf('.*', 'everybody')]
  const hashes = languageCodes.map((language) => {
    const names = areas.map((area) => bareName(fileOf(`messages/${area}.${language}.ts`)))
    const hash = names[0]?.split('-').at(-1) ?? ''
    const wrong = areas.findIndex((area, at) => names[at] !== catalogueFile(area, language, hash))
    if (wrong >= 0) throw new Error(`${names[wrong]} does not have the name that the first script would request`)
    return hash
  })
  return { files, languages: languageCodes, areas, hashes, routes }
}
