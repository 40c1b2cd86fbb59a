import { describe, expect, test } from 'bun:test'
import { signatureHeaders } from './sigv4.ts'

/** The keys from AWS's own test suite for Signature Version 4. */
const keys = { accessKey: 'AKIDEXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const request = {
  method: 'GET',
  url: 'https://example.amazonaws.com/',
  body: '',
  region: 'us-east-1',
  service: 'service',
  nowMs: Date.UTC(2015, 7, 30, 12, 36, 0),
}
const signatureOf = (headers: Record<string, string>) => /Signature=(\w+)$/.exec(headers['authorization'] ?? '')?.[1]

describe("Signature Version 4, with AWS's test vectors", () => {
  test('get-vanilla', () => {
    expect(signatureHeaders(request, keys)).toEqual({
      'x-amz-date': '20150830T123600Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    })
  })

  test('post-vanilla', () => {
    const signed = signatureHeaders({ ...request, method: 'POST' }, keys)
    expect(signatureOf(signed)).toBe('5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b')
  })

  test('get-vanilla-query-order-key-case', () => {
    const signed = signatureHeaders(
      { ...request, url: 'https://example.amazonaws.com/?Param2=value2&Param1=value1' },
      keys,
    )
    expect(signatureOf(signed)).toBe('b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500')
  })
})

test('with temporary keys, the session token is sent and is part of the signature', () => {
  const signed = signatureHeaders(request, { ...keys, sessionToken: 'token' })
  expect(signed['x-amz-security-token']).toBe('token')
  expect(signed['authorization']).toContain('SignedHeaders=host;x-amz-date;x-amz-security-token')
})

test('a path that is already encoded is encoded a second time for the signature', () => {
  const url = 'https://bedrock-runtime.us-east-1.amazonaws.com/model/a.b-v1%3A0/converse'
  const twice = signatureHeaders({ ...request, method: 'POST', url }, keys)
  const once = signatureHeaders({ ...request, method: 'POST', url: url.replace('%3A', ':') }, keys)
  expect(signatureOf(twice)).not.toBe(signatureOf(once))
})
