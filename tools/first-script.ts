// The scripts that run before the console's entry: see docs/decisions/0041-frame-before-the-entry.md.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { minify, type Plugin, type Rolldown } from 'vite'
import { type FirstParts, firstParts } from './first-parts.ts'
import { loadFresh } from './load-fresh.ts'

/** Paths of the console's files. */
interface FirstScript {
  theme: string
  parts: string
  frame: string
  routes: string
  frames: string
  messages: string
  /** Modules that pages load at once for logged-in users, in addition to the modules of their routes, by path. */
  ofUsers: Readonly<Record<string, readonly string[]>>
}

/** The frame of a page, as in `console/app/frames.ts`. */
interface PageFrame {
  title: string
  text?: string
  width?: keyof typeof widths
  unless?: { stored?: string; query?: string }
}

const languages = ['en', 'zh'] as const
const widths = { full: 'max-w-none', narrow: 'max-w-[720px]' }

interface Asset {
  fileName: string
  source: string
}

/** Makes a separate classic script. */
async function asset(name: string, script: string): Promise<Asset> {
  const { code, errors } = await minify(`${name}.js`, script, { module: false })
  if (errors.length > 0) throw new Error(`${name}.js: ${errors[0]?.message}`)
  const source = `${code}\n`
  const hash = createHash('sha256').update(source).digest('hex').slice(0, 8)
  return { fileName: `assets/${name}-${hash}.js`, source }
}

async function readText(messages: string, language: string, key: string): Promise<string> {
  const [catalogue] = Object.values(await loadFresh(resolve(messages, `${key.split('.')[0]}.${language}.ts`)))
  const found = (catalogue as Record<string, string>)[key]
  if (found === undefined) throw new Error(`there is no message ${key} in ${language}`)
  return found
}

/**
 * The page's first script, which sets the theme before the first paint and loads the parts of the page. There is also
 * one script per language, which draws the frame of the page. They are separate files because the page's content
 * security policy does not allow inline scripts.
 */
export function firstScript(of: FirstScript): Plugin {
  let building = false
  /** The scripts of the current build, whose file names are written into the page. */
  let made: ReturnType<typeof make> | undefined

  /** The headings of the routes, in the order of the routes; empty for a route without a frame. */
  async function headings(paths: FirstParts['paths'], language: string): Promise<string> {
    const frames = (await loadFresh(of.frames))['frames'] as Record<string, PageFrame>
    const listed = Object.keys(frames).sort()
    const wanted = paths.flatMap(({ path, inShell }) => (inShell && path !== '$' ? [path] : [])).sort()
    if (listed.join() !== wanted.join()) throw new Error(`frames.ts has ${listed}, but the shell ${wanted}`)
    const text = (key: string) => readText(of.messages, language, key)
    const rows = paths.map(async ({ path }) => {
      const frame = frames[path]
      if (!frame) return []
      const { title, text: intro, width, unless = {} } = frame
      const texts = [await text(title), intro ? await text(intro) : '']
      return [...texts, width ? widths[width] : '', unless.stored ?? '', unless.query ?? '']
    })
    return JSON.stringify(await Promise.all(rows))
  }

  async function make(bundle: Rolldown.OutputBundle): Promise<[first: Asset, ...frames: Asset[]]> {
    const { paths, ...table } = firstParts(of.routes, bundle, of.ofUsers)
    const read = (file: string) => readFileSync(file, 'utf8')
    const drawing = read(of.frame)
    const scripts = languages.map(async (language) => {
      const words = await headings(paths, language)
      return await asset(
        `frame-${language}`,
        drawing.replace(/\bframeHeadings\b/, () => words),
      )
    })
    const frames = await Promise.all(scripts)
    const names = frames.map(({ fileName }) => fileName.replace(/^assets\/|\.js$/g, ''))
    const parts = read(of.parts).replace(/\bfirstParts\b/, () => JSON.stringify({ ...table, frames: names }))
    return [await asset('first', `${read(of.theme)}\n${parts}`), ...frames]
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
