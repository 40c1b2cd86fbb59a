// Checks every page with axe, in every state that looks different, in both themes, in English and Chinese, wide and
// narrow. Down to a width of 320 px, nothing may be cut off or scroll sideways. All texts must be translated.
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
/** Number of screens that are checked concurrently; while one loads, another can use the CPU. */
const atOnce = 4
const found = new Map<number, Promise<string[]>>()

/** Returns the faults of a screen and also starts checking the screens after it. */
function faultsOf(index: number): Promise<string[]> {
  for (const [ahead, screen] of chosen.slice(index, index + atOnce).entries()) {
    const place = index + ahead
    if (found.has(place)) continue
    const looking = lookAt(screen.bare ? bare : site, screen)
    // A failed check must not be reported as unhandled before the test of that screen awaits it.
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

test('every route of the console appears in the list of screens', () => {
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
