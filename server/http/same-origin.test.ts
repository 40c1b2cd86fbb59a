import { expect, test } from 'bun:test'
import { isCrossSite, isPageLoad } from './same-origin.ts'

const crossSite = (headers: Record<string, string>) =>
  isCrossSite(new Request('http://gate.example/api/x', { headers }))

test('programs other than browsers send none of these headers and pass', () => {
  expect(crossSite({})).toBe(false)
})

test('Sec-Fetch-Site decides if it is present', () => {
  expect(crossSite({ 'sec-fetch-site': 'same-origin' })).toBe(false)
  expect(crossSite({ 'sec-fetch-site': 'none' })).toBe(false)
  expect(crossSite({ 'sec-fetch-site': 'same-site' })).toBe(true)
  expect(crossSite({ 'sec-fetch-site': 'cross-site', origin: 'http://gate.example' })).toBe(true)
})

test('without Sec-Fetch-Site, Origin or Referer must have the same host', () => {
  expect(crossSite({ origin: 'https://gate.example' })).toBe(false)
  expect(crossSite({ origin: 'http://gate.example:81' })).toBe(true)
  expect(crossSite({ origin: 'null' })).toBe(true)
  expect(crossSite({ referer: 'http://evil.example/page' })).toBe(true)
})

test('a request that no script makes is a page load', () => {
  const pageLoad = (headers: Record<string, string>) => isPageLoad(new Request('http://gate.example/', { headers }))
  const script = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
  expect(pageLoad(script)).toBe(false)
  expect(pageLoad({ 'sec-fetch-site': 'same-origin' })).toBe(false)
  expect(pageLoad({ ...script, accept: 'text/html' })).toBe(false)
  // A script of a browser extension, and then a URL that somebody typed.
  expect(pageLoad({ ...script, 'sec-fetch-site': 'none' })).toBe(false)
  expect(pageLoad({ ...script, 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' })).toBe(true)
  expect(pageLoad({ ...script, 'sec-fetch-dest': 'image' })).toBe(true)
  expect(pageLoad({ ...script, 'sec-fetch-mode': 'navigate' })).toBe(true)
  expect(pageLoad({})).toBe(false)
  expect(pageLoad({ accept: 'application/json, */*' })).toBe(false)
  expect(pageLoad({ accept: 'text/html,*/*' })).toBe(true)
  expect(pageLoad({ accept: 'image/png,*/*' })).toBe(true)
})
