// Sends every request of one-api's console to a fresh server in a separate process, and uses nothing but HTTP. Each
// request is sent with and without the trailing slash, with session cookies and with access tokens.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { openTheDoors, walkAccounts, walkOutside } from './walk/accounts.ts'
import { walkChannels } from './walk/channels.ts'
import { walkLogs } from './walk/logs.ts'
import { walkUsers } from './walk/people.ts'
import { walkOptions, walkPublic, walkRefusals } from './walk/public.ts'
import { rows } from './walk/rows.ts'
import { walkRedemptions, walkTokens } from './walk/tokens.ts'
import { type Person, Walk } from './walk/walker.ts'

setDefaultTimeout(120_000)

forEachDatabaseUrl((_, freshUrl) => {
  for (const kind of ['cookie', 'access token'] as const) {
    describe(`with ${kind}s`, () => {
      let walk: Walk
      beforeAll(async () => {
        walk = await Walk.start(kind, await freshUrl())
      })
      afterAll(() => walk[Symbol.asyncDispose]())

      for (const form of ['as written', 'the other'] as const) {
        describe(`trailing slashes: ${form}`, () => {
          let admin: Person
          let person: Person
          let other: Person
          beforeAll(async () => {
            walk.form = form
            admin = await walk.newPerson(`adm${walk.mark}`, 10)
            person = await walk.newPerson(`usr${walk.mark}`, 1, 1_000_000)
            other = await walk.newPerson(`oth${walk.mark}`)
          })

          test('status and pages', () => walkPublic(walk))
          test('options and groups', () => walkOptions(walk))
          test('users', () => walkUsers(walk, admin))
          test('tokens', () => walkTokens(walk, person, other))
          test('redemptions and top-ups', () => walkRedemptions(walk, admin, person))
          test('channels', () => walkChannels(walk, admin))
          test('logs', () => walkLogs(walk, admin, person))
          test('refusals', () => walkRefusals(walk, person))
          test('registration, the profile and emails', async () => {
            await openTheDoors(walk)
            await walkAccounts(walk)
          })
          test('external logins', () => walkOutside(walk, other))
        })
      }

      test('every call was made with and without its trailing slash', () => {
        const wanted = rows.flatMap((row) => [`${row}, as written`, `${row}, the other`])
        expect(wanted.filter((each) => !walk.made.has(each))).toEqual([])
      })
    })
  }
})
