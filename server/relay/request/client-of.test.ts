import { expect, test } from 'bun:test'
import { clientOf } from './client-of.ts'

test.each([
  ['codex_cli_rs/0.42.0 (Mac OS 15.0; arm64) iTerm.app/3.5', 'codex_cli_rs/0.42.0'],
  ['claude-cli/1.0.83 (external, cli)', 'claude-cli/1.0.83'],
  ['OpenAI/Python 1.58.1', 'OpenAI/Python 1.58.1'],
  ['AsyncOpenAI/Python 1.58.1', 'AsyncOpenAI/Python 1.58.1'],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['Go-http-client/1.1', 'Go-http-client/1.1'],
  ['node', 'node'],
  ['python-requests/2.31.0 extra/1', 'python-requests/2.31.0'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox/128.0'],
  ['Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36', 'Chrome/126.0.0.0'],
  ['Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36 Edg/126.0', 'Edg/126.0'],
  ['Mozilla/5.0 (X11) AppleWebKit/537.36 Cursor/0.45.11 Chrome/128.0 Electron/32.2 Safari/537.36', 'Cursor/0.45.11'],
  ['Mozilla/5.0', 'Mozilla'],
])('the client of %p is %p', (userAgent, client) => {
  expect(clientOf(userAgent)).toBe(client)
})

test.each([
  null,
  '',
  ' ',
  'sk-0123456789',
  'Bearer',
  'a8f5f167f44f4964e6c998dee827110c',
  'someone@example.com/1.0',
  '日本語/1.0',
  '"quoted"/1.0',
  `${'a'.repeat(31)}/1.0`,
  `${'/'.repeat(100_000)}`,
  `${' '.repeat(100_000)}x`,
])('%p names no client or only a word', (userAgent) => {
  expect(clientOf(userAgent) ?? 'Bearer').toBe('Bearer')
})

test('the detail of a client is omitted if it is not a version, and the result is short', () => {
  expect(clientOf('tool/my secret')).toBe('tool/my')
  expect(clientOf('tool/a8f5f167f44f4964')).toBe('tool')
  expect(clientOf(`tool/1${'2'.repeat(30)}`)).toBe('tool')
  expect(clientOf('Mozilla/5.0 sk-1/1.0 <b>/1.0')).toBe('Mozilla')
  expect(clientOf(`${'n'.repeat(30)}/${'w'.repeat(12)} 1${'2'.repeat(15)}`)).toHaveLength(60)
  expect(clientOf(`${'n'.repeat(30)}/${'w'.repeat(12)} 1${'2'.repeat(16)}`)).toHaveLength(43)
})
