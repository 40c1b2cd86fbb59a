import { expect, test } from 'bun:test'
import { startService } from '../../test/helpers/outside-services.ts'
import { callJson, OutboundError } from './call-json.ts'

const limits = { timeMs: 300, answerBytes: 1000 }
const get = (url: string) => callJson('The service', url, { method: 'GET' }, limits)

async function failureOf(work: Promise<unknown>): Promise<OutboundError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(OutboundError)
  return error as OutboundError
}

const causeOf = async (work: Promise<unknown>) => {
  const { kind, message, cause } = await failureOf(work)
  expect([kind, message]).toEqual(['unavailable', 'The service cannot be reached, please try again later.'])
  return String(cause)
}

test('parses the response, whatever its status', async () => {
  await using service = await startService((_, response) => response.writeHead(418).end('{"tea": true}'))
  expect(await get(service.url)).toEqual({ tea: true })
})

test('gives up on a service that accepts a connection and stays silent, and on a response that does not end', async () => {
  await using silent = await startService(() => undefined)
  expect(await causeOf(get(silent.url))).toMatch(/timed out/i)
  await using endless = await startService((_, response) => void response.writeHead(200).write('{"a":'))
  expect(await causeOf(get(endless.url))).toMatch(/timed out/i)
})

test('reads no more than the limit', async () => {
  await using service = await startService((_, response) => response.end(`"${'x'.repeat(2000)}"`))
  expect(await causeOf(get(service.url))).toContain('longer than 1000 bytes')
})

test('follows no redirect, and accepts only JSON', async () => {
  await using target = await startService((_, response) => response.end('{}'))
  await using service = await startService((_, response) =>
    response.writeHead(302, { location: target.url }).end('moved'),
  )
  expect(await causeOf(get(service.url))).toContain('not JSON')
  expect(target.requests).toEqual([])
})

test('calls private addresses, but not the address of a metadata service in any notation', async () => {
  for (const host of [
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '[::ffff:169.254.169.254]',
    '[fd00:ec2::254]',
    'metadata.google.internal',
    '100.100.100.200',
  ]) {
    expect(await causeOf(get(`http://${host}/latest`))).toContain('metadata service')
  }
  expect(await causeOf(get('file:///etc/passwd'))).toContain('must begin with http:// or https://')
})

test('reports a port on which nothing listens', async () => {
  const { url } = await startService(() => undefined).then(async (service) => {
    await service[Symbol.asyncDispose]()
    return service
  })
  expect(await causeOf(get(url))).not.toBe('')
})
