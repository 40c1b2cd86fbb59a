import { expect, test } from 'bun:test'
import { isCrossSite, isPageLoad } from './same-origin.ts'

const crossSite = (headers: Record<string, string>) =>
  isCrossSite(new Request('http://gate.example/api/x', { headers }))

test('requests without Sec-Fetch-Site, Origin and Referer pass, because programs other than browsers send them', () => {
  expect(crossSite({})).toBe(false)
})

test('if Sec-Fetch-Site is present, Origin and Referer are ignored', () => {
  expect(crossSite({ 'sec-fetch-site': 'same-origin' })).toBe(false)
  expect(crossSite({ 'sec-fetch-site': 'none' })).toBe(false)
  expect(crossSite({ 'sec-fetch-site': 'same-site' })).toBe(true)
  expect(crossSite({ 'sec-fetch-site': 'cross-site', origin: 'http://gate.example' })).toBe(true)
})

test('without Sec-Fetch-Site, the host in Origin or Referer must be the host of the request', () => {
  expect(crossSite({ origin: 'https://gate.example' })).toBe(false)
  expect(crossSite({ origin: 'http://gate.example:81' })).toBe(true)
  expect(crossSite({ origin: 'null' })).toBe(true)
  expect(crossSite({ referer: 'http://evil.example/page' })).toBe(true)
})

test('a browser request that no script made counts as a page load', () => {
  const pageLoad = (headers: Record<string, string>) => isPageLoad(new Request('http://gate.example/', { headers }))
  const script = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
  expect(pageLoad(script)).toBe(false)
  expect(pageLoad({ 'sec-fetch-site': 'same-origin' })).toBe(false)
  expect(pageLoad({ ...script, accept: 'text/html' })).toBe(false)
  // The first request is made by a script of a browser extension, the second by somebody who typed a URL.
  expect(pageLoad({ ...script, 'sec-fetch-site': 'none' })).toBe(false)
  expect(pageLoad({ ...script, 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' })).toBe(true)
  expect(pageLoad({ ...script, 'sec-fetch-dest': 'image' })).toBe(true)
  expect(pageLoad({ ...script, 'sec-fetch-mode': 'navigate' })).toBe(true)
  expect(pageLoad({})).toBe(false)
  expect(pageLoad({ accept: 'application/json, */*' })).toBe(false)
  expect(pageLoad({ accept: 'text/html,*/*' })).toBe(true)
  expect(pageLoad({ accept: 'image/png,*/*' })).toBe(true)
})
