import { expect, test } from 'bun:test'
import { browserOf } from './client-name.ts'

test('the browser and the system are found in the headers of common browsers', () => {
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0'
  for (const [header, browser, system] of [
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`, 'Chrome', 'Windows'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/131.0.0.0`, 'Edge', 'Windows'],
    [`Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36`, 'Chrome', 'Android'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0', 'Firefox', 'Linux'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
      'Safari',
      'iPhone',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
      'Safari',
      'macOS',
    ],
  ] as const)
    expect([header, browserOf(header)]).toEqual([header, { browser, system }])
})

test('other clients are not taken for browsers', () => {
  for (const header of ['', 'curl/8.5.0', 'python-requests/2.32', 'Safari', '<script>']) {
    expect([header, browserOf(header)]).toEqual([header, undefined])
  }
})
