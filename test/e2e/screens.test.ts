// Every page in every state that looks different: axe in both themes, English and Chinese, wide and narrow; nothing that
// is cut off or scrolls sideways, down to 320 px; no text that was not translated.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FakeUpstream } from '../helpers/fake-upstream.ts'
import { swept } from '../helpers/sweeps.ts'
import { openConsole } from './support/console.ts'
import { lookAt, nameOf } from './support/look-at.ts'
import { person } from './support/screen.ts'
import { screens } from './support/screens.ts'
import { fillForScreens } from './support/screens-data.ts'

const [site, bare] = [openConsole(), openConsole()]
setDefaultTimeout(900_000)

const chosen = swept(screens, nameOf)
/** Screens that are looked at beside each other: while one loads, another is computed. */
const atOnce = 4
const found = new Map<number, Promise<string[]>>()

/** What is wrong with a screen; those after it are begun, too. */
function faultsOf(index: number): Promise<string[]> {
  for (const [ahead, screen] of chosen.slice(index, index + atOnce).entries()) {
    const place = index + ahead
    if (found.has(place)) continue
    const looking = lookAt(screen.bare ? bare : site, screen)
    // Until its own test asks it is nobody's failure.
    looking.catch(() => undefined)
    found.set(place, looking)
  }
  return found.get(index) ?? Promise.reject(new Error('there is no such screen'))
}

let upstream: FakeUpstream
beforeAll(async () => {
  upstream = await fillForScreens(site)
  await bare.api('POST', '/api/user/', { ...person, display_name: person.username })
})
afterAll(() => upstream[Symbol.asyncDispose]())

for (const [index, screen] of chosen.entries()) {
  test(`looks right to everybody: ${nameOf(screen)}`, async () => {
    expect(await faultsOf(index)).toEqual([])
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
