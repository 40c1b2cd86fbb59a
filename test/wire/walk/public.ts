import { expect } from 'bun:test'
import { leastRole, otherForm, rows } from './rows.ts'
import { expectRecord } from './shapes.ts'
import type { Person, Walk } from './walker.ts'

/** The status document and the texts of the public pages. */
export async function walkPublic(walk: Walk): Promise<void> {
  const status = await walk.ok('GET /api/status')
  expectRecord('status', status)
  const texts = [
    ['GET /api/notice', 'Notice'],
    ['GET /api/about', 'About'],
    ['GET /api/home_page_content', 'HomePageContent'],
  ] as const
  for (const [row, key] of texts) {
    expect(await walk.ok(row)).toBe('')
    await walk.setOptions({ [key]: `# ${key}\n<b>bold</b>` })
    // These are strings, never objects: clients pass them to their Markdown renderer unchanged.
    expect(await walk.ok(row)).toBe(`# ${key}\n<b>bold</b>`)
    await walk.setOptions({ [key]: '' })
  }
}

/** Options: all values are returned as strings, except secrets, which are not returned. */
export async function walkOptions(walk: Walk): Promise<void> {
  const list = (await walk.ok('GET /api/option/', {}, undefined, walk.root)) as { key: string; value: string }[]
  for (const option of list) {
    expect(Object.keys(option).sort()).toEqual(['key', 'value'])
    expect([option.key, typeof option.value]).toEqual([option.key, 'string'])
    expect(option.key).not.toMatch(/(?:Secret|Token|SecretKey)$/)
  }
  const keys = list.map(({ key }) => key)
  for (const key of knownOptions)
    expect([key, keys.includes(key)]).toEqual([key, !/(?:Secret|Token|SecretKey)$/.test(key)])
  expect(await walk.ok('PUT /api/option/', {}, { key: 'RetryTimes', value: '3' }, walk.root)).toBeUndefined()
  const after = (await walk.ok('GET /api/option/', {}, undefined, walk.root)) as { key: string; value: string }[]
  expect(after.find(({ key }) => key === 'RetryTimes')?.value).toBe('3')
  await walk.setOptions({ RetryTimes: '0' })
  await walk.refused('PUT /api/option/', {}, { key: 'RetryTimes', value: [3] }, walk.root, 400)
  await walk.refused('PUT /api/option/', {}, { key: 'NoSuchOption', value: '3' }, walk.root)
  await walk.refused('PUT /api/option/', {}, { key: 'ModelRatio', value: '{' }, walk.root)
  expect(await walk.ok('GET /api/group/', {}, undefined, walk.root)).toEqual(['default', 'svip', 'vip'])
}

const knownOptions =
  'PasswordLoginEnabled PasswordRegisterEnabled EmailVerificationEnabled GitHubOAuthEnabled GitHubClientId GitHubClientSecret WeChatAuthEnabled WeChatServerAddress WeChatServerToken WeChatAccountQRCodeImageURL TurnstileCheckEnabled TurnstileSiteKey TurnstileSecretKey RegisterEnabled EmailDomainRestrictionEnabled EmailDomainWhitelist SMTPServer SMTPPort SMTPAccount SMTPFrom SMTPToken ServerAddress Footer Notice About SystemName Logo HomePageContent QuotaForNewUser QuotaForInviter QuotaForInvitee QuotaRemindThreshold PreConsumedQuota ModelRatio GroupRatio TopUpLink ChatLink QuotaPerUnit AutomaticDisableChannelEnabled ChannelDisableThreshold LogConsumeEnabled DisplayInCurrencyEnabled DisplayTokenStatEnabled ApproximateTokenEnabled RetryTimes'.split(
    ' ',
  )

/**
 * Makes every non-public call as a visitor, who gets a 401, and as an ordinary user without the required rights, who
 * gets a refusal.
 */
export async function walkRefusals(walk: Walk, ordinary: Person): Promise<void> {
  for (const row of rows) {
    const least = leastRole(row)
    if (least === 'public') continue
    const body = /^(?:POST|PUT) /.test(row) ? {} : undefined
    await walk.refused(row, { id: 1 }, body, undefined, 401)
    if (least === 'admin') await walk.refused(row, { id: 1 }, body, ordinary)
  }
  const wrong = await walk.fetch('GET', '/api/user/self', undefined, { authorization: 'Bearer nonsense' })
  expect([wrong.status, wrong.json.success]).toEqual([200, false])
  for (const path of ['/api/nothing', otherForm('/api/nothing')]) {
    const unknown = await walk.fetch('GET', path)
    expect([unknown.status, unknown.json]).toEqual([
      404,
      {
        error: {
          message: expect.stringContaining(`Invalid URL (GET ${path}) (request id: `),
          type: 'invalid_request_error',
          param: '',
          code: '',
        },
      },
    ])
  }
}
