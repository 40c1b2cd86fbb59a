// The scripts that run before the console's entry: see docs/decisions/0041-frame-before-the-entry.md.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { minify, type Plugin, type Rolldown } from 'vite'
import { languageCodes } from '../console/lib/languages.ts'
import { firstParts, type PageTable, readPages } from './first-parts.ts'
import { loadFresh } from './load-fresh.ts'

const widths = { full: 'max-w-none', narrow: 'max-w-[720px]' }

interface Asset {
  fileName: string
  source: string
}

/** Creates a separate classic script. */
async function asset(name: string, script: string): Promise<Asset> {
  const { code, errors } = await minify(`${name}.js`, script, { module: false })
  if (errors.length > 0) throw new Error(`${name}.js: ${errors[0]?.message}`)
  const source = `${code}\n`
  const hash = createHash('sha256').update(source).digest('hex').slice(0, 8)
  return { fileName: `assets/${name}-${hash}.js`, source }
}

async function readText(folder: string, language: string, key: string): Promise<string> {
  const [catalogue] = Object.values(await loadFresh(join(folder, 'messages', `${key.split('.')[0]}.${language}.ts`)))
  const found = (catalogue as Record<string, string>)[key]
  if (found === undefined) throw new Error(`there is no message ${key} in ${language}`)
  return found
}

/** The headings of the pages in order. They are empty for pages without a frame. */
async function headings(folder: string, { pages }: PageTable, language: string): Promise<string> {
  const text = (key: string) => readText(folder, language, key)
  const rows = pages.map(async ({ heading }) => {
    if (!heading) return []
    const { title, text: intro, width, unless = {} } = heading
    const texts = [await text(title), intro ? await text(intro) : '']
    return [...texts, width ? widths[width] : '', unless.stored ?? '', unless.query ?? '']
  })
  return JSON.stringify(await Promise.all(rows))
}

/**
 * Adds the page's first script, which sets the theme before the first paint and loads the parts of the page. Also adds
 * one script per language, which draws the frame of the page. They are separate files because the page's security
 * policy does not allow inline scripts. `folder` is the folder of the console.
 */
export function firstScript(folder: string): Plugin {
  let building = false
  /** The scripts of the current build, whose file names are written into the page. */
  let made: ReturnType<typeof make> | undefined

  async function make(bundle: Rolldown.OutputBundle): Promise<[first: Asset, ...frames: Asset[]]> {
    const table = await readPages(folder)
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    const drawing = read('frame-boot.js')
    const scripts = languageCodes.map(async (language) => {
      const words = await headings(folder, table, language)
      return await asset(
        `frame-${language}`,
        drawing.replace(/\bframeHeadings\b/, () => words),
      )
    })
    const frames = await Promise.all(scripts)
    const names = frames.map(({ fileName }) => fileName.replace(/^assets\/|\.js$/g, ''))
    const parts = { ...firstParts(table, folder, bundle), frames: names }
    const loading = read('parts-boot.js').replace(/\bfirstParts\b/, () => JSON.stringify(parts))
    return [await asset('first', `${read('theme-boot.js')}\n${loading}`), ...frames]
  }

  return {
    name: 'first-script',
    config: (_config, { command }) => {
      building = command === 'build'
    },
    buildStart() {
      made = undefined
    },
    async generateBundle(_options, bundle) {
      made ??= make(bundle)
      for (const each of await made) this.emitFile({ type: 'asset', ...each })
    },
    transformIndexHtml: {
      order: 'post',
      handler: async (_html, { bundle }) => {
        if (building && bundle) made ??= make(bundle)
        const [first] = (await made) ?? []
        return [
          {
            tag: 'script',
            attrs: { src: first ? `./${first.fileName}` : '/theme-boot.js' },
            injectTo: 'head-prepend',
          },
        ]
      },
    },
  }
}
