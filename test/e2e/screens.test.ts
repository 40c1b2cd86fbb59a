// Checks every page with axe, in each of its states, in both themes, in every language, on a wide and on a narrow
// screen. Down to a width of 320 px, nothing may be cut off or scroll sideways. No text may be untranslated.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { pages } from '../../console/app/pages.ts'
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
/** Number of screens that are checked at the same time; while one screen loads, axe checks another. */
const atOnce = 4
const found = new Map<number, Promise<string[]>>()

/** Returns the faults of a screen and also starts checking the screens after it. */
function faultsOf(index: number): Promise<string[]> {
  for (const [ahead, screen] of chosen.slice(index, index + atOnce).entries()) {
    const place = index + ahead
    if (found.has(place)) continue
    const looking = lookAt(screen.bare ? bare : site, screen)
    // A failure must not count as unhandled before the screen's own test waits for the result.
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
  test(`has no fault in any theme, language or width: ${nameOf(screen)}`, async () => {
    expect(await faultsOf(index)).toEqual([])
  })
}

test('every route of the console is among the screens', () => {
  const seen = screens.map(({ path, goes }) => new URL(goes ?? path, 'http://x').pathname)
  const patterns = [...pages.map(({ path }) => path.replace('$id', '\\d+')), '/no/.*']
  const missing = patterns.filter((pattern) => !seen.some((each) => new RegExp(`^${pattern}$`).test(each)))
  expect(missing).toEqual([])
  expect(new Set(screens.map(nameOf)).size).toBe(screens.length)
})
