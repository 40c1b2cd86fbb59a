import { Buffer } from 'node:buffer'
import { HTML_PAGE, openAiError } from './errors.ts'
import { sendBody, sendJson } from './reply.ts'
import { type Behaviour, behaviour, type HeaderList } from './types.ts'

/** Reads the whole request, then resets the connection (RST) without sending a byte. */
export function resetsBeforeHeaders(): Behaviour {
  return behaviour('resetsBeforeHeaders', (exchange) => exchange.reset())
}

/** Resets the connection as soon as the request's headers have arrived, while its body is still being sent. */
export function resetsDuringBody(): Behaviour {
  return behaviour('resetsDuringBody', (exchange) => exchange.reset(), 'head')
}

/** Sends status and headers, then resets the connection. */
export function resetsAfterHeaders(headers: HeaderList = [['content-type', 'application/json']]): Behaviour {
  return behaviour('resetsAfterHeaders', async (exchange) => {
    exchange.head(200, headers)
    await settle()
    exchange.reset()
  })
}

/** Closes the connection properly (FIN) without sending a byte, as a stale keep-alive connection does. */
export function closesWithoutAnswer(): Behaviour {
  return behaviour('closesWithoutAnswer', (exchange) => exchange.fin())
}

/** Accepts the request and never responds. */
export function neverAnswers(): Behaviour {
  return behaviour('neverAnswers', (exchange) => exchange.hang())
}

/** Never reads the body of the request, and never answers. */
export function neverReadsBody(): Behaviour {
  return behaviour('neverReadsBody', (exchange) => exchange.hang(), 'head')
}

/** Announces more bytes in content-length than it sends, then closes with FIN or RST. */
export function cutsPlain(how: 'fin' | 'reset' = 'fin'): Behaviour {
  return behaviour(`cutsPlain ${how}`, async (exchange) => {
    exchange.head(200, [['content-type', 'application/json']], { length: 500 })
    await exchange.write(
      '{"id":"chatcmpl-fake","object":"chat.completion","choices":[{"index":0,"message":{"role":"assis',
    )
    await settle()
    if (how === 'fin') exchange.fin()
    else exchange.reset()
  })
}

/** An HTML page with status 200, as captive portals and wrong base URLs return. */
export function html200(): Behaviour {
  return behaviour('html200', (exchange) =>
    sendBody(exchange, 200, HTML_PAGE, [['content-type', 'text/html; charset=utf-8']]),
  )
}

/** Status 200 with an error as a JSON body, even if the request asks for a stream. */
export function jsonError200(message = 'Something went wrong.'): Behaviour {
  return behaviour('jsonError200', (exchange) => sendJson(exchange, 200, openAiError(500, { message })))
}

/** Status 200 with a body that is declared as JSON but is not valid JSON. */
export function brokenJson200(): Behaviour {
  const body = '{"id":"chatcmpl-fake","choices":[{"index":0,'
  return behaviour('brokenJson200', (exchange) => sendBody(exchange, 200, body, [['content-type', 'application/json']]))
}

/** Status 200 with an empty body. */
export function empty200(): Behaviour {
  return behaviour('empty200', (exchange) => sendBody(exchange, 200, '', [['content-type', 'application/json']]))
}

/** A plain response of about this many bytes. */
export function hugePlain(bytes: number): Behaviour {
  return behaviour('hugePlain', (exchange) => {
    const message = { role: 'assistant', content: 'x'.repeat(bytes) }
    const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 }
    return sendJson(exchange, 200, {
      id: 'chatcmpl-fake',
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    })
  })
}

/** Redirects the caller to another address. */
export function redirects(location: string, code = 302): Behaviour {
  return behaviour('redirects', (exchange) => sendBody(exchange, code, '', [['location', location]]))
}

/** Bytes that are not HTTP at all. */
export function garbage(
  bytes: string | Uint8Array = Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 0, 1, 2, 3, 4]),
): Behaviour {
  return behaviour('garbage', async (exchange) => {
    await exchange.raw(bytes)
    await settle()
    exchange.fin()
  })
}

/** Headers with both a content length and chunked encoding, as in response smuggling. */
export function twoLengths(): Behaviour {
  return behaviour('twoLengths', async (exchange) => {
    await exchange.raw(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    await exchange.raw('2\r\n{}\r\n0\r\n\r\n')
    exchange.fin()
  })
}

/** Gives the kernel time to send what was written, so that a reset does not discard it. */
export function settle(ms = 20): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
