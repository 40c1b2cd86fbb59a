import { describe, expect, test } from 'bun:test'
import { addressVerdict, isOfficial } from './no-such-address.ts'

const verdict = (body: unknown, status = 404) =>
  addressVerdict(status, typeof body === 'string' ? body : JSON.stringify(body), '/responses')

describe('these error bodies mean that the server does not have the endpoint', () => {
  test.each([
    [''],
    ['404 page not found'],
    ['<html><body>Not Found</body></html>'],
    [{ detail: 'Not Found' }],
    [
      {
        error: { message: 'Invalid URL (POST /v1/responses)', type: 'invalid_request_error', param: null, code: null },
      },
    ],
    [{ error: { message: 'Unknown request URL: POST /openai/v1/x. Please check the URL.', code: 'unknown_url' } }],
    [{ statusCode: 404, message: 'Cannot POST /v1/responses', error: 'Not Found' }],
    [{ timestamp: '2026-01-01T00:00:00Z', status: 404, error: 'Not Found', path: '/v1/responses' }],
    [{ error: { code: 404, message: 'File Not Found', type: 'not_found_error' } }],
    [{ error: { code: '404', message: 'Resource not found' } }],
    [{ message: 'no Route matched with those values' }],
    [{ success: false, errors: [{ code: 7000, message: 'No route for that URI' }] }],
    [{ code: 5, error: 'url.not_found', message: '没找到对象', method: 'POST', url: '/v1/responses' }],
    [{ type: 'error', error: { type: 'not_found_error', message: 'Not found' } }],
    [{}],
  ])('%j', (body) => expect(verdict(body)).toBe('missing'))

  test('statuses 405 and 501 also mean that the endpoint is missing', () => {
    expect(verdict({ error: { message: 'No model.' } }, 405)).toBe('missing')
    expect(verdict({ error: { message: 'No model.' } }, 501)).toBe('missing')
  })
})

describe('these error bodies mean that the endpoint exists and something else was not found', () => {
  test.each([
    [
      {
        error: {
          message: "Item with id 'rs_gone' not found.",
          type: 'invalid_request_error',
          param: 'input',
          code: null,
        },
      },
    ],
    [{ error: { message: "Previous response with id 'resp_1' not found.", code: 'previous_response_not_found' } }],
    [
      {
        error: {
          message: 'The model `gpt-9` does not exist or you do not have access to it.',
          code: 'model_not_found',
        },
      },
    ],
    [{ object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError', param: null, code: 404 }],
    [{ error: "model 'x' not found" }],
    [{ error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } }],
    [{ type: 'error', error: { type: 'not_found_error', message: 'model: this-model-does-not-exist' } }],
    [{ error: { message: 'Conversation with id conv_1 not found.' } }],
    [{ error: { message: 'No such File object: file-1' } }],
    [{ error: { code: '1211', message: '模型不存在，请检查模型代码。' } }],
  ])('%j', (body) => expect(verdict(body)).toBe('there'))
})

test.each([
  [{ error: { message: 'This model is not supported on the /v1/responses endpoint.' } }],
  [{ error: { message: 'The model or endpoint ep-1 does not exist.' } }],
])('%j leaves open whether the endpoint is missing', (body) => expect(verdict(body)).toBe('unsure'))

test('services that have every endpoint are recognised by their hosts', () => {
  expect(isOfficial('https://api.openai.com', '')).toBe(true)
  expect(isOfficial('https://eu.api.openai.com/v1', '')).toBe(true)
  expect(isOfficial('https://my.openai.azure.com', '')).toBe(true)
  expect(isOfficial('https://api.groq.com/openai/v1', 'https://api.groq.com/openai')).toBe(true)
  expect(isOfficial('https://api.openai.com.example.net', 'https://api.openai.com')).toBe(false)
  expect(isOfficial('http://127.0.0.1:8000', '')).toBe(false)
})
