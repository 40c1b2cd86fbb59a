// The size of a page on a first visit: its scripts, and all of the styles. It is read from the build output.
import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { buildConsoleIfStale } from '../../tools/console-build.mjs'

const folder = resolve(process.env['CONSOLE_DIR'] ?? join(import.meta.dir, '../../dist/console'))

interface Chunk {
  file: string
  imports?: string[]
  css?: string[]
}

const plain = ['app/plain-layout.tsx', 'messages/common.en.ts']
const shell = ['app/shell.tsx', 'messages/common.en.ts', 'messages/shell.en.ts']
const list = [...shell, 'messages/table.en.ts']
const form = [...shell, 'messages/form.en.ts']

/**
 * For each page: the limit for its gzipped scripts in KB, and the modules that it loads at first in addition to the
 * entry module.
 */
const budgets: Record<string, { kb: number; modules: string[] }> = {
  '/login': { kb: 110, modules: [...plain, 'pages/login/login.page.tsx', 'messages/auth.en.ts'] },
  '/register': {
    kb: 150,
    modules: [
      ...plain,
      'pages/register/register.page.tsx',
      'messages/auth.en.ts',
      'messages/register.en.ts',
      'messages/form.en.ts',
    ],
  },
  '/reset': {
    kb: 150,
    modules: [...plain, 'pages/reset/reset.page.tsx', 'messages/reset.en.ts', 'messages/form.en.ts'],
  },
  '/token': { kb: 185, modules: [...list, 'pages/token/list.page.tsx', 'messages/token.en.ts'] },
  '/channel': {
    kb: 185,
    modules: [...list, 'app/admin-only.tsx', 'pages/channel/list.page.tsx', 'messages/channel.en.ts'],
  },
  '/redemption': {
    kb: 185,
    modules: [...list, 'app/admin-only.tsx', 'pages/redemption/list.page.tsx', 'messages/redemption.en.ts'],
  },
  '/user': { kb: 185, modules: [...list, 'app/admin-only.tsx', 'pages/user/list.page.tsx', 'messages/user.en.ts'] },
  '/log': { kb: 190, modules: [...list, 'pages/log/list.page.tsx', 'messages/log.en.ts'] },
  '/model': { kb: 185, modules: [...list, 'pages/model/list.page.tsx', 'messages/model.en.ts'] },
  '/token/add': { kb: 190, modules: [...form, 'pages/token/form.page.tsx', 'messages/token.en.ts'] },
  '/channel/add': {
    kb: 190,
    modules: [
      ...form,
      'app/admin-only.tsx',
      'pages/channel/form.page.tsx',
      'messages/channel.en.ts',
      'messages/provider.en.ts',
    ],
  },
  '/redemption/add': {
    kb: 190,
    modules: [...form, 'app/admin-only.tsx', 'pages/redemption/form.page.tsx', 'messages/redemption.en.ts'],
  },
  '/user/edit': { kb: 190, modules: [...form, 'pages/user/form.page.tsx', 'messages/user.en.ts'] },
  '/recording': {
    kb: 190,
    modules: [...form, 'app/admin-only.tsx', 'pages/recording/recording.page.tsx', 'messages/recording.en.ts'],
  },
  '/setting': { kb: 190, modules: [...form, 'pages/setting/setting.page.tsx', 'messages/setting.en.ts'] },
  '/topup': { kb: 190, modules: [...form, 'pages/topup/topup.page.tsx', 'messages/topup.en.ts'] },
  '/playground': { kb: 190, modules: [...form, 'pages/playground/playground.page.tsx', 'messages/playground.en.ts'] },
  '/': { kb: 190, modules: [...shell, 'pages/home/home.page.tsx', 'messages/home.en.ts'] },
  '/ of people who are logged in': {
    kb: 190,
    modules: [...shell, 'pages/home/home.page.tsx', 'pages/home/start.tsx', 'messages/home.en.ts'],
  },
  '/reference': { kb: 190, modules: [...shell, 'pages/reference/reference.page.tsx', 'messages/reference.en.ts'] },
  '/usage': {
    kb: 190,
    modules: [...list, 'pages/usage/usage.page.tsx', 'pages/usage/usage-chart.tsx', 'messages/usage.en.ts'],
  },
}
const styleKb = 15
const largestLazyKb = 60
const messagesKb = 12

let manifest: Record<string, Chunk>
beforeAll(async () => {
  if (process.env['CONSOLE_DIR'] === undefined) await buildConsoleIfStale()
  manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
}, 120_000)

/** The size of a file as it is sent, in KB. The build compresses all files but the smallest. */
const compressed = (file: string) => {
  const path = join(folder, file)
  return statSync(existsSync(`${path}.gz`) ? `${path}.gz` : path).size / 1024
}
const sum = (files: Iterable<string>) => [...files].reduce((total, file) => total + compressed(file), 0)

/** All files that these modules and their static imports need to run. */
function filesOf(modules: readonly string[]): Set<string> {
  const seen = new Set<string>()
  const files = new Set<string>()
  const visit = (name: string) => {
    if (seen.has(name)) return
    seen.add(name)
    const chunk = manifest[name]
    if (!chunk) throw new Error(`${name} is not in the build`)
    files.add(chunk.file)
    for (const next of chunk.imports ?? []) visit(next)
  }
  for (const name of modules) visit(name)
  return files
}

/** The path of a script that the page loads before its entry. */
const early = (pattern: RegExp) => {
  const name = readdirSync(join(folder, 'assets')).find((file) => pattern.test(file))
  if (name === undefined) throw new Error(`the page has no ${pattern}`)
  return `assets/${name}`
}
const firstScript = () => early(/^first-\w+\.js$/)

/** The files that the boot script requests for a page. */
function askedAtFirst(page: string, isUser: boolean): { scripts: string[]; parts: string[] } {
  const placed: { tag: string; href?: string; src?: string }[] = []
  const asset = (address = '') => address.replace('http://console/', '')
  const [path] = page.split(' ')
  const document = {
    currentScript: { src: `http://console/${firstScript()}` },
    documentElement: { dataset: {} },
    head: { append: (element: (typeof placed)[number]) => placed.push(element) },
    createElement: (tag: string) => ({ tag, dataset: {} }),
  }
  const user = JSON.stringify({ id: 1, username: 'root', role: 100 })
  const stored: Record<string, string> = isUser ? { user } : {}
  const source = readFileSync(join(folder, firstScript()), 'utf8')
  new Function('document', 'location', 'localStorage', 'navigator', source)(
    document,
    { pathname: path },
    { getItem: (key: string) => stored[key] ?? null },
    { languages: ['en-GB'] },
  )
  const of = (wanted: string) => placed.filter(({ tag }) => tag === wanted)
  return { scripts: of('script').map(({ src }) => asset(src)), parts: of('link').map(({ href }) => asset(href)) }
}

/** Whether a page is for logged-in users only. Pages that load the shell are, except the home page. */
const isForUsers = (page: string, modules: readonly string[]) => page !== '/' && modules.includes('app/shell.tsx')

describe('a first visit', () => {
  for (const [path, { kb, modules }] of Object.entries(budgets)) {
    test(`to ${path} loads at most ${kb} KB of script`, () => {
      const { scripts } = askedAtFirst(path, isForUsers(path, modules))
      expect(Math.ceil(sum([...filesOf(['index.html', ...modules]), firstScript(), ...scripts]))).toBeLessThanOrEqual(
        kb,
      )
    })
  }

  test('requests all files immediately, because they are listed in the boot script', () => {
    const entry = filesOf(['index.html'])
    for (const [path, { modules }] of Object.entries(budgets)) {
      const isUser = isForUsers(path, modules)
      const { scripts, parts } = askedAtFirst(path, isUser)
      const loaded = [...filesOf(modules)].filter((file) => !entry.has(file))
      expect([path, parts.sort()]).toEqual([path, loaded.sort()])
      expect([path, scripts]).toEqual([path, isUser ? [early(/^frame-en-\w+\.js$/)] : []])
    }
    expect(askedAtFirst('/no/such/page', true).parts).toContain(manifest['app/shell.tsx']?.file ?? 'no shell')
  })

  test(`loads at most ${styleKb} KB of style`, () => {
    const styles = readdirSync(join(folder, 'assets')).filter((name) => name.endsWith('.css'))
    expect(sum(styles.map((name) => `assets/${name}`))).toBeLessThanOrEqual(styleKb)
  })
})

test('the API reference adds at most 90 KB to the shell: 10 KB of script and 80 KB of document', () => {
  const shellFiles = filesOf(['index.html', ...shell])
  const own = [...filesOf(['pages/reference/reference.page.tsx', 'messages/reference.en.ts'])]
  // The chunk `shared` contains components that nearly every page loads, so it is not counted.
  const added = own.filter((file) => !shellFiles.has(file) && !file.includes('/shared-'))
  expect(sum(added)).toBeLessThanOrEqual(10)
  // Compressed as the server does it.
  const document = gzipSync(JSON.stringify(openApiDocument('1.2.3')), { level: 9 }).byteLength / 1024
  expect(document).toBeLessThanOrEqual(80)
})

test(`no chunk that loads later is larger than ${largestLazyKb} KB, and no message file is larger than ${messagesKb} KB`, () => {
  const first = filesOf(['index.html'])
  const later = Object.values(manifest).filter(({ file }) => file.endsWith('.js') && !first.has(file))
  expect(later.filter(({ file }) => compressed(file) > largestLazyKb).map(({ file }) => file)).toEqual([])
  const messages = Object.entries(manifest).filter(([name]) => name.startsWith('messages/'))
  expect(messages.length).toBeGreaterThan(10)
  expect(messages.filter(([, { file }]) => compressed(file) > messagesKb).map(([name]) => name)).toEqual([])
})
