import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../errors.ts'
import { errorEvent, errorObject, readErrorBody } from './errors.ts'

test('turns a failure into an error object with code, type and request id', () => {
  const error = new GatewayError('required_field_missing', 'model is required', { param: 'model' })
  const object = {
    message: 'model is required (request id: 42)',
    type: 'invalid_request_error',
    param: 'model',
    code: 'required_field_missing',
  }
  expect(errorObject(error, '42')).toEqual(object)
  expect(errorEvent(error, '42')).toBe(`data: ${JSON.stringify({ error: object })}\n\n`)
})

test('an error event remains one event, whatever its message contains', () => {
  const event = errorEvent(new GatewayError('internal_error', 'a\n\ndata: [DONE]\r\n'), '42')
  expect(event.indexOf('\n\n')).toBe(event.length - 2)
})

describe('reads the message in an upstream error body, or falls back to the status code:', () => {
  const shaped = { message: 'found', type: 't', code: 'c' }
  const cases: readonly (readonly [string, unknown, string, unknown])[] = [
    ["OpenAI's shape", { error: shaped }, 'found', shaped],
    [
      'a list with such an object, as Google sends it',
      [{ error: { code: 400, message: 'found' } }],
      'found',
      { code: 400, message: 'found' },
    ],
    ['message', { message: 'found', msg: 'other' }, 'found', undefined],
    ['msg', { msg: 'found' }, 'found', undefined],
    ['err', { err: 'found' }, 'found', undefined],
    ['error_msg', { error_msg: 'found' }, 'found', undefined],
    ['header.message', { header: { message: 'found' } }, 'found', undefined],
    ['error as a string', { error: 'found' }, 'found', undefined],
    ['detail', { detail: 'found' }, 'found', undefined],
    ['an object without a known field', { reason: 'lost' }, 'bad response status code 500', undefined],
    ['an error without a message', { error: {} }, 'bad response status code 500', undefined],
    ['a number', 5, 'bad response status code 500', undefined],
    ['null', null, 'bad response status code 500', undefined],
  ]
  for (const [name, body, message, error] of cases) {
    test(name, () => {
      expect(readErrorBody(JSON.stringify(body), 500)).toEqual({ message, shaped: error as never })
    })
  }

  test('HTML pages and broken JSON are not used as messages', () => {
    for (const text of ['<html>10.0.0.1</html>', '{"error":{"message":"cut', '']) {
      expect(readErrorBody(text, 502)).toEqual({ message: 'bad response status code 502', shaped: undefined })
    }
  })
})
