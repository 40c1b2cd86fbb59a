import { expect, test } from 'bun:test'
import { limitHeaders } from './limit-headers.ts'

test.each([
  [0, '0s'],
  [59, '59s'],
  [60, '1m0s'],
  [61, '1m1s'],
  [120, '2m0s'],
])('%d seconds until a limit is free again are reported as %s', (seconds, text) => {
  const minutes = { token: { calls: 1, tokens: 2, callsReset: seconds, tokensReset: seconds } }
  const headers = limitHeaders({ token: { rpm_limit: 3, tpm_limit: 5 }, minutes } as never)
  expect(headers).toEqual({
    'x-ratelimit-limit-requests': '3',
    'x-ratelimit-remaining-requests': '2',
    'x-ratelimit-reset-requests': text,
    'x-ratelimit-limit-tokens': '5',
    'x-ratelimit-remaining-tokens': '3',
    'x-ratelimit-reset-tokens': text,
  })
})
