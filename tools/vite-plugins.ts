// Vite plugins for the console's build; see docs/decisions/0018-console-stack.md.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { compileMessage } from '@lingui/message-utils/compileMessage'
import { type Plugin, Visitor } from 'vite'
import { languageCodes } from '../console/lib/languages.ts'
import { sources } from './console-build.mjs'
import { fingerprint } from './fingerprint.mjs'
import { catalogueFile, readPages } from './first-parts.ts'
import { loadFresh } from './load-fresh.ts'

/** Matches a dynamic import as Vite writes it, with a list of files to preload. */
const helpedImport = /__vitePreload\((?:async )?\(\) => ([\s\S]*?), __VITE_PRELOAD__, import\.meta\.url\)/g
/**
 * Matches the body of a dynamic import if only some exports are used. Unused exports have already been removed at this
 * point.
 */
const takingBlock = /^\{\s*const \{[^{}]*\} = await (import\("[^"]*"\));\s*return \{[^{}]*\};\s*\}$/

/**
 * Removes Vite's preload helper from dynamic imports. It is not needed, because parts have no separate style sheets and
 * the first script loads their imports.
 */
export function plainImports(): Plugin {
  return {
    name: 'plain-imports',
    apply: 'build',
    enforce: 'pre',
    load: (id) => (id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : null),
    renderChunk: (code) =>
      code.replaceAll(helpedImport, (_, body: string) => {
        const taken = takingBlock.exec(body)?.[1]
        if (taken === undefined && !body.startsWith('import(')) throw new Error(`this import cannot be read: ${body}`)
        return taken ?? body
      }),
  }
}

/** Matches the table of the message catalogues as Vite writes it, after `plainImports`. */
const catalogueTable = /\{\s*(?:"\.\.\/messages\/[\w-]+\.\w+\.ts": \(\) => import\("[^"]+"\),?\s*)+\}/
const catalogueRow = /"(\.\.\/messages\/)([\w-]+)\.(\w+)\.ts": \(\) => import\("\.\/\2\.\3-(\w+)\.js"\)/g

/**
 * Shortens the table of the message catalogues, because every page loads it. File names can be derived from area and
 * language, so the browser builds the table from the names of the areas.
 */
export function shortCatalogueTable(): Plugin {
  return {
    name: 'short-catalogue-table',
    apply: 'build',
    enforce: 'post',
    renderChunk: (code) =>
      code.replace(catalogueTable, (table) => {
        const rows = [...table.matchAll(catalogueRow)]
        const areas = [...new Set(rows.map(([, , area]) => area))]
        const hashes = Object.fromEntries(rows.map(([, , , language, hash]) => [language, hash]))
        const isWhole =
          rows.length === areas.length * languageCodes.length && table.split('import(').length - 1 === rows.length
        if (!isWhole) throw new Error('the table of the catalogues cannot be shortened')
        return `Object.fromEntries(${JSON.stringify(areas.join(' '))}.split(" ").flatMap((area) => Object.entries(${JSON.stringify(hashes)}).map(([language, hash]) => [\`../messages/\${area}.\${language}.ts\`, () => import(\`./\${area}.\${language}-\${hash}.js\`)])))`
      }),
  }
}

/** Modules of packages, by the end of their path, whose exports are replaced by modules of the console. */
const replacements: Readonly<Record<string, { exports: string; from: string }>> = {
  // Every icon of the package imports this module.
  '/lucide-react/dist/esm/createLucideIcon.mjs': { exports: 'default', from: 'lucide-icon.ts' },
  '/@tanstack/react-router/dist/esm/link.js': { exports: 'Link', from: 'router-link.ts' },
  '/@tanstack/react-router/dist/esm/CatchBoundary.js': { exports: 'CatchBoundary', from: 'router-boundary.ts' },
  '/@tanstack/router-core/dist/esm/scroll-restoration.js': {
    exports: 'setupScrollRestoration',
    from: 'router-scroll.ts',
  },
  '/@tanstack/router-core/dist/esm/searchParams.js': {
    exports: 'defaultParseSearch, defaultStringifySearch',
    from: 'router-query.ts',
  },
}

/**
 * Replaces parts of packages that every page would have to wait for, although the console uses only a little of them.
 * `folder` contains the replacements. If a package no longer has such a module, the build fails.
 */
export function smallerModules(folder: string): Plugin {
  const used = new Set<string>()
  const whole = '?whole'
  return {
    name: 'smaller-modules',
    apply: 'build',
    enforce: 'pre',
    load(id) {
      const path = Object.keys(replacements).find((each) => id.endsWith(each))
      const original = id.endsWith(whole)
      if (original) return { code: readFileSync(id.slice(0, -whole.length), 'utf8'), moduleSideEffects: false }
      if (path === undefined) return null
      used.add(path)
      const { exports, from } = replacements[path] ?? {}
      const code = `export * from ${JSON.stringify(id + whole)}\nexport { ${exports} } from ${JSON.stringify(join(folder, from ?? ''))}`
      return { code, moduleSideEffects: false }
    },
    buildEnd(error) {
      const missing = Object.keys(replacements).filter((path) => !used.has(path))
      if (error === undefined && missing.length > 0) throw new Error(`no module imports ${missing.join(', ')}`)
    },
  }
}

/** Adds the entry's imports to the page, so that they are loaded at the same time as the entry. */
export function preloadedEntry(): Plugin {
  return {
    name: 'preloaded-entry',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { chunk }) =>
        (chunk?.imports ?? []).map((file) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `./${file}` },
          injectTo: 'head',
        })),
    },
  }
}

const isCatalogue = new RegExp(`\\.(?:${languageCodes.join('|')})\\.ts$`)

/** Compiles messages during the build, so that the browser does not need the parser for ICU messages. */
export function compiledMessages(folder: string): Plugin {
  return {
    name: 'compiled-messages',
    enforce: 'pre',
    async load(id) {
      if (!id.startsWith(`${folder}/`) || !isCatalogue.test(id)) return null
      const catalogues = Object.entries(await loadFresh(id))
      const lines = catalogues.map(([name, catalogue]) => {
        const entries = Object.entries(catalogue as Record<string, string>)
        const compiled = Object.fromEntries(entries.map(([key, message]) => [key, compileMessage(message)]))
        return `export const ${name} = ${JSON.stringify(compiled)}`
      })
      return { code: lines.join('\n'), moduleSideEffects: false }
    },
  }
}

/**
 * Chunks that are large and belong to many pages. If an upgrade does not change them, browsers keep them in their
 * cache.
 */
const keptChunks = ['core', 'shared', 'table', 'icons']

/**
 * Names the chunks of a build. The entry and the first script contain nearly all of these names, and hashes do not
 * compress, so chunks share hashes. The message catalogues of a language have the same hash, and most other chunks have
 * the hash of all sources. `folder` contains the catalogues.
 */
export function chunkNames(folder: string): (chunk: { name: string }) => string {
  const compiler = readFileSync(require.resolve('@lingui/message-utils/package.json'), 'utf8')
  const names = new Map<string, string>()
  for (const language of languageCodes) {
    const files = readdirSync(folder).filter((name) => name.endsWith(`.${language}.ts`))
    const hash = createHash('sha256').update(compiler)
    for (const name of files.sort()) hash.update(name).update(readFileSync(join(folder, name)))
    const short = hash.digest('hex').slice(0, 8)
    for (const name of files) {
      const area = name.slice(0, name.indexOf('.'))
      names.set(`${area}.${language}`, `assets/${catalogueFile(area, language, short)}.js`)
    }
  }
  const shared = fingerprint(join(folder, '../..'), sources).slice(0, 8)
  const ending = (name: string) => (keptChunks.includes(name) ? '[hash:7]' : shared)
  return ({ name }) => names.get(name) ?? `assets/[name]-${ending(name)}.js`
}

interface PlainEndpoint {
  method: string
  path: string
  envelope: string
}

function isTable(value: unknown): value is Record<string, PlainEndpoint> {
  const endpoints = typeof value === 'object' && value !== null ? Object.values(value) : []
  return endpoints.length > 0 && endpoints.every((each) => typeof each?.method === 'string' && 'envelope' in each)
}

function isConstant(value: unknown): boolean {
  return Array.isArray(value) ? value.every(isConstant) : ['string', 'number', 'boolean'].includes(typeof value)
}

/** The part of an export that the console needs at run time, as JSON; undefined for schemas and functions. */
function asData(value: unknown): string | undefined {
  if (isConstant(value)) return JSON.stringify(value)
  if (!isTable(value)) return undefined
  const endpoints = Object.entries(value).map(([name, { method, path, envelope }]) => [
    name,
    { method, path, envelope },
  ])
  return JSON.stringify(Object.fromEntries(endpoints))
}

/**
 * Reduces tables of endpoints to plain data. To call an endpoint, the console needs its method, path and envelope, but
 * not its schemas. The schemas of a file are loaded only by code that imports them by name, such as a form.
 */
export function endpointsAsData(folder: string): Plugin {
  return {
    name: 'endpoints-as-data',
    enforce: 'pre',
    async load(id) {
      const [path = '', query] = id.split('?')
      if (!path.startsWith(`${folder}/`) || !path.endsWith('.ts')) return null
      if (query === 'schemas') return { code: readFileSync(path, 'utf8'), moduleSideEffects: false }
      const exported = Object.entries(await loadFresh(path)).map(([name, value]) => ({ name, json: asData(value) }))
      const data = exported.flatMap(({ name, json }) => (json === undefined ? [] : [`export const ${name} = ${json}`]))
      const rest = exported.filter(({ json }) => json === undefined).map(({ name }) => name)
      const schemas = rest.length > 0 ? [`export { ${rest.join(', ')} } from ${JSON.stringify(`${path}?schemas`)}`] : []
      return { code: [...data, ...schemas].join('\n'), moduleSideEffects: false }
    },
  }
}

/** The fields of the table of pages that the routes do not need. */
const notForRoutes = ['heading', 'menu', 'early', 'search']

/**
 * Removes the fields that routes do not need from the built table of pages, because the entry needs only the routes.
 * The menu is loaded with the shell and gets a separate table.
 */
export function dividedPages(folder: string): Plugin {
  const [table, menu] = [join(folder, 'app/pages.ts'), join(folder, 'app/menu.ts')]
  return {
    name: 'divided-pages',
    apply: 'build',
    enforce: 'pre',
    resolveId: (source, importer) => (source === './pages.ts' && importer === menu ? `${table}?menu` : null),
    async load(id) {
      if (id !== `${table}?menu`) return null
      const { pages } = await readPages(folder)
      const entries = pages
        .filter((page) => page.menu)
        .map((page) => ({ path: page.path, for: page.for, menu: page.menu }))
      return `export const pages = ${JSON.stringify(entries)}`
    },
    transform(code, id) {
      if (id !== table) return null
      const kept: string[] = []
      let end = 0
      const drop = (start: number, after: number) => {
        kept.push(code.slice(end, start))
        end = code[after] === ',' ? after + 1 : after
      }
      const visitor = new Visitor({
        // These modules run functions when they are loaded, so the build would not drop them by itself.
        ImportDeclaration({ source, start, end: after }) {
          if (source.value.endsWith('/search.ts')) drop(start, after)
        },
        Property({ key, start, end: after }) {
          if (start >= end && key.type === 'Identifier' && notForRoutes.includes(key.name)) drop(start, after)
        },
      })
      visitor.visit(this.parse(code, { lang: 'ts' }))
      return kept.join('') + code.slice(end)
    },
  }
}

/** Writes compressed forms next to every compressible file, so that the server need not compress anything. */
export function precompressed(): Plugin {
  return {
    name: 'precompressed',
    apply: 'build',
    writeBundle({ dir }) {
      const folder = dir ?? ''
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        const file = join(folder, name)
        if (!/\.(?:js|css|svg)$/.test(name) || statSync(file).size < 512) continue
        const content = readFileSync(file)
        // At level 9, Bun's zlib produces larger files.
        writeFileSync(`${file}.gz`, gzipSync(content, { level: 8 }))
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
        writeFileSync(`${file}.br`, brotliCompressSync(content, { params: quality }))
      }
    },
  }
}
