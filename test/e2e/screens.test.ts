// Every page in every state that looks different: axe in both themes, English and Chinese, wide and narrow; nothing that
// is cut off or scrolls sideways, down to 320 px; no text that was not translated.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FakeUpstream } from '../helpers/fake-upstream.ts'
import { openConsole } from './support/console.ts'
import { lookAt, nameOf } from './support/look-at.ts'
import { person, screens } from './support/screens.ts'
import { fillForScreens } from './support/screens-data.ts'

const [site, bare] = [openConsole(), openConsole()]
setDefaultTimeout(900_000)

/** Screens that are looked at beside each other: while one loads, another is computed. */
const atOnce = 3
const found = new Map<string, Promise<string[]>>()

let upstream: FakeUpstream
beforeAll(async () => {
  upstream = await fillForScreens(site)
  await bare.api('POST', '/api/user/', { ...person, display_name: person.username })
  const waiting = [...screens]
  const results = waiting.map((screen) => {
    const result = Promise.withResolvers<string[]>()
    // Whoever waits for it is told; until then it is nobody's failure.
    result.promise.catch(() => undefined)
    found.set(nameOf(screen), result.promise)
    return () => lookAt(screen.bare ? bare : site, screen).then(result.resolve, result.reject)
  })
  for (let lane = 0; lane < atOnce; lane++) {
    void (async () => {
      for (let next = results.shift(); next; next = results.shift()) await next()
    })()
  }
})
afterAll(() => upstream[Symbol.asyncDispose]())

for (const screen of screens) {
  test(`looks right to everybody: ${nameOf(screen)}`, async () => {
    expect(await found.get(nameOf(screen))).toEqual([])
  })
}

test('every route of the console is among them', () => {
  const routes = readFileSync(join(import.meta.dir, '../../console/app/routes.tsx'), 'utf8')
  const paths = [...routes.matchAll(/\bpath: '([^']+)'/g)].map((match) => match[1] ?? '')
  const seen = screens.map(({ path, goes }) => new URL(goes ?? path, 'http://x').pathname)
  const missing = paths.filter((path) => {
    const pattern = new RegExp(`^${path === '$' ? '/no/.*' : path.replace('$id', '\\d+')}$`)
    return !seen.some((each) => pattern.test(each))
  })
  expect(missing).toEqual([])
  expect(new Set(screens.map(nameOf)).size).toBe(screens.length)
})
