import { expect, test } from 'bun:test'
import { isCrossSite } from './same-origin.ts'

const crossSite = (headers: Record<string, string>) =>
  isCrossSite(new Request('http://gate.example/api/x', { headers }))

test('programs that are no browsers send nothing and pass', () => {
  expect(crossSite({})).toBe(false)
})

test('Sec-Fetch-Site decides where there is one', () => {
  expect(crossSite({ 'sec-fetch-site': 'same-origin' })).toBe(false)
  expect(crossSite({ 'sec-fetch-site': 'none' })).toBe(false)
  expect(crossSite({ 'sec-fetch-site': 'same-site' })).toBe(true)
  expect(crossSite({ 'sec-fetch-site': 'cross-site', origin: 'http://gate.example' })).toBe(true)
})

test('else Origin, or Referer, must be of the same host', () => {
  expect(crossSite({ origin: 'https://gate.example' })).toBe(false)
  expect(crossSite({ origin: 'http://gate.example:81' })).toBe(true)
  expect(crossSite({ origin: 'null' })).toBe(true)
  expect(crossSite({ referer: 'http://evil.example/page' })).toBe(true)
})
