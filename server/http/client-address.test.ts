import { expect, test } from 'bun:test'
import { addressKey, originReader } from './client-address.ts'

function addressOf(trusted: string[], socket: string, headers: Record<string, string> = {}, url = 'http://a/') {
  return originReader(trusted)(new Request(url, { headers }), socket)
}

test('without trusted proxies the caller is the socket address, whatever the headers contain', () => {
  const headers = { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-proto': 'https' }
  expect(addressOf([], '10.0.0.1', headers)).toEqual({ address: '10.0.0.1', secure: false })
})

test('X-Forwarded-For is ignored if the socket address is not a trusted proxy', () => {
  expect(addressOf(['10.0.0.0/8'], '203.0.113.5', { 'x-forwarded-for': '1.2.3.4' }).address).toBe('203.0.113.5')
})

test('the right-most untrusted entry of X-Forwarded-For is the caller, so invented entries have no effect', () => {
  const headers = { 'x-forwarded-for': '6.6.6.6, 198.51.100.7, 10.0.0.3' }
  expect(addressOf(['10.0.0.0/8'], '10.0.0.1', headers).address).toBe('198.51.100.7')
})

test('if an entry of X-Forwarded-For is not an address, the caller is the valid entry to the right of it', () => {
  expect(addressOf(['10.0.0.0/8'], '10.0.0.1', { 'x-forwarded-for': '1.2.3.4, unknown, 10.0.0.2' }).address).toBe(
    '10.0.0.2',
  )
})

test('IPv4-mapped IPv6 addresses, ports and brackets are understood', () => {
  expect(addressOf([], '::ffff:192.0.2.1').address).toBe('192.0.2.1')
  const trusted = ['::1']
  expect(addressOf(trusted, '::1', { 'x-forwarded-for': '192.0.2.1:4711' }).address).toBe('192.0.2.1')
  expect(addressOf(trusted, '::1', { 'x-forwarded-for': '[2001:db8::5]:4711' }).address).toBe('2001:db8::5')
})

test('a trusted IPv4 network may be written in IPv6 form', () => {
  const trusted = ['::ffff:10.0.0.0/104']
  expect(addressOf(trusted, '::ffff:10.0.0.1', { 'x-forwarded-for': '192.0.2.1' }).address).toBe('192.0.2.1')
  expect(addressOf(trusted, '::ffff:11.0.0.1', { 'x-forwarded-for': '192.0.2.1' }).address).toBe('11.0.0.1')
})

test('X-Forwarded-Proto from a trusted proxy shows whether the caller used TLS', () => {
  expect(addressOf(['10.0.0.1'], '10.0.0.1', { 'x-forwarded-proto': 'https' }).secure).toBe(true)
  expect(addressOf(['10.0.0.1'], '10.0.0.1').secure).toBe(false)
  expect(addressOf([], '10.0.0.9', {}, 'https://a/').secure).toBe(true)
})

test('rate limits count all addresses of one IPv6 customer together', () => {
  expect(addressKey('2001:db8:1:2:3:4:5:6')).toBe(addressKey('2001:db8:1:2::1'))
  expect(addressKey('2001:db8:1:3::1')).not.toBe(addressKey('2001:db8:1:2::1'))
  expect(addressKey('192.0.2.1')).toBe('192.0.2.1')
})
