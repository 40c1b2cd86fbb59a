import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../errors.ts'
import { withoutKey } from '../../lib/secrets/without-key.ts'
import { backOffMs, judgeFailure, judgeStatus, retryAfterSeconds } from './retry-policy.ts'

describe('judgeStatus', () => {
  const cases: readonly (readonly [status: number, retry: boolean, upstreamFault: boolean, disable: boolean])[] = [
    [302, true, true, false],
    [400, false, false, false],
    [401, true, true, true],
    [402, true, true, false],
    [403, true, true, false],
    [404, true, false, false],
    [408, true, true, false],
    [409, true, false, false],
    [413, false, false, false],
    [422, false, false, false],
    [429, true, false, false],
    [500, true, true, false],
    [503, true, true, false],
    [529, true, true, false],
  ]
  test.each(cases)('%d: retry %p, upstream at fault %p, disables %p', (status, retry, upstreamFault, disable) => {
    const verdict = judgeStatus(status, undefined, 'something')
    const account = status >= 401 && status <= 403
    expect({ ...verdict, disable: verdict.disable !== undefined }).toEqual({
      retry,
      upstreamFault,
      disable,
      ...(account && { account }),
    })
  })

  test.each([
    [429, { type: 'insufficient_quota' }, ''],
    [403, { code: 'account_deactivated' }, ''],
    [400, { type: 'authentication_error' }, ''],
    [400, {}, 'Your credit balance is too low to access the API'],
    [400, {}, 'API key not valid. Please pass a valid API key.'],
    [400, {}, 'This organization has been disabled.'],
    [200, {}, '您的账户已欠费，请充值后重试。'],
    [429, {}, 'Your account org-1 is suspended due to insufficient balance'],
  ])('%d with %j %s: the account is unusable, but another may work', (status, error, message) => {
    const verdict = judgeStatus(status, error, message)
    expect(verdict.disable).toBeString()
    expect(verdict.retry).toBe(true)
  })

  test.each(['the load balancer is busy', 'no credit where no credit is due', 'permission to speak'])(
    '"%s" does not disable anything',
    (message) => expect(judgeStatus(500, {}, message).disable).toBeUndefined(),
  )

  test.each([
    "Invalid value: 'your credit balance is too low'. Supported values are: 'low'.",
    "'api key expired' is not one of ['auto']",
    '"insufficient balance": no such tool',
    'Unknown name api key not valid',
  ])('%s: text from the caller does not disable the account', (message) => {
    for (const status of [400, 404, 422, 500]) expect(judgeStatus(status, {}, message).disable).toBeUndefined()
  })
})

test('only failures of the upstream are retried on another channel', () => {
  const upstream = { retry: true, upstreamFault: true, disable: undefined }
  expect(judgeFailure(new GatewayError('upstream_timeout', ''))).toEqual(upstream)
  expect(judgeFailure(new GatewayError('do_request_failed', ''))).toEqual(upstream)
  expect(judgeFailure(new GatewayError('mode_not_supported', ''))).toEqual({
    ...upstream,
    retry: false,
    upstreamFault: false,
  })
})

test('Retry-After is read as seconds or as a date', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const cases: readonly (readonly [string | null, number | undefined])[] = [
    [null, undefined],
    ['', undefined],
    ['7', 7],
    ['0', 0],
    ['1.5', 1.5],
    ['-5', undefined],
    ['soon', undefined],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
  ]
  for (const [header, seconds] of cases) expect([header, retryAfterSeconds(header, now)]).toEqual([header, seconds])
})

test('the pause doubles with each attempt, up to one second, and has jitter', () => {
  expect([0, 1, 2, 3, 10].map((attempt) => backOffMs(attempt, () => 1))).toEqual([50, 100, 200, 400, 1000])
  expect(backOffMs(2, () => 0)).toBe(100)
})

test("a channel's key and the parts of the key are removed from texts", () => {
  expect(withoutKey('key sk-123456789 is bad: sk-123456789', 'sk-123456789')).toBe('key [key] is bad: [key]')
  expect(withoutKey('id 12345678, secret abcdefgh', '12345678|abcdefgh')).toBe('id [key], secret [key]')
  expect(withoutKey('a short word', 'short')).toBe('a short word')
  expect(withoutKey('nothing', '')).toBe('nothing')
})
