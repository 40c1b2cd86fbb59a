import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Capture, CaptureRule } from '../../contract/api/capture.ts'
import { type FakeUpstream, okChat, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type ObjectStore, startObjectStore, storeKey } from '../helpers/object-store.ts'
import { startTestGateway, type TestGateway } from '../helpers/test-gateway.ts'

let upstream: FakeUpstream
let objects: ObjectStore
let gate: TestGateway
let caller: Awaited<ReturnType<TestGateway['addCaller']>>

beforeAll(async () => {
  upstream = await startFakeUpstream()
  objects = startObjectStore('gateway')
  gate = await startTestGateway()
  await gate.addChannel({ base_url: upstream.url })
  const options = {
    S3Endpoint: `${objects.url}/`,
    S3Bucket: 'gateway',
    S3Region: 'eu-central-1',
    S3Prefix: 'production/tollgate',
    S3AccessKeyId: storeKey.id,
    S3SecretAccessKey: storeKey.secret,
    CaptureStore: 's3',
  }
  for (const [key, value] of Object.entries(options)) await gate.setOption(key, value)
  caller = await gate.addCaller({ user: 1e6 })
})
afterAll(async () => {
  await gate.close()
  await objects[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

const begin = () =>
  gate.api<CaptureRule>('POST', '/api/capture/rule/', {
    target: 'user',
    target_id: caller.userId,
    until: Math.floor(Date.now() / 1000) + 3600,
  })
const read = (id: string) => gate.api<Capture | null>('GET', `/api/capture/${id}`)

async function recordedCall(text: string): Promise<string> {
  upstream.next(okChat({ text: `${text}-answer` }))
  const body = { model: 'gpt-4o', messages: [{ role: 'user', content: text }] }
  const response = await gate.post('/v1/chat/completions', body, caller.token)
  await response.text()
  await gate.context.api.captures.close()
  return response.headers.get('x-oneapi-request-id') ?? ''
}

test('recordings are encrypted, written to the bucket, read from it and deleted from it', async () => {
  await begin()
  expect([...objects.objects.keys()]).toEqual([])
  const id = await recordedCall('serengeti')
  const path = `/gateway/production/tollgate/captures/${id.slice(0, 8)}/${id}`
  expect([...objects.objects.keys()]).toEqual([path])
  expect(Buffer.from(objects.objects.get(path) ?? []).toString('latin1')).not.toContain('serengeti')
  expect(existsSync(join(gate.config.dataDir, 'captures'))).toBe(false)
  expect((await read(id))?.response.turns[0]?.parts[0]?.text).toBe('serengeti-answer')
  await gate.context.store.write((trx) => trx.updateTable('captures').set({ created_at: 1 }).execute())
  await gate.context.api.captures.sweep()
  expect(await read(id)).toBe(null)
  expect(objects.objects.size).toBe(0)
  expect(await gate.context.store.read.selectFrom('captures').selectAll().execute()).toEqual([])
  expect(objects.refusals).toEqual([])
})

test('if the store fails while a recording is deleted, the recording cannot be read, and the next attempt deletes its object', async () => {
  const id = await recordedCall('deleted')
  await gate.context.store.write((trx) => trx.updateTable('captures').set({ created_at: 1 }).execute())
  objects.instead.push(new Response('', { status: 503 }))
  await expect(gate.context.api.captures.sweep()).rejects.toThrow('status 503')
  expect(await read(id)).toBe(null)
  expect(objects.objects.size).toBe(1)
  await gate.context.api.captures.sweep()
  expect(objects.objects.size).toBe(0)
})

test('a store that does not work is reported before anything is recorded', async () => {
  objects.instead.push(new Response('<Error><Code>AccessDenied</Code></Error>', { status: 403 }))
  await expect(begin()).rejects.toThrow('the object store responded with status 403 (AccessDenied)')
  await gate.setOption('S3Bucket', 'another')
  await expect(begin()).rejects.toThrow('NoSuchBucket')
  await gate.setOption('S3Bucket', 'gateway')
  // A redirect is not followed, because its target would receive the signature.
  objects.instead.push(new Response(null, { status: 307, headers: { location: 'http://127.0.0.1:9/' } }))
  await expect(begin()).rejects.toThrow('status 307')
})

test('the store’s secret is in no response and not in plain text in the database, and the store’s URL cannot be a metadata service', async () => {
  const shown = JSON.stringify(await gate.api('GET', '/api/option/'))
  expect(shown).toContain(storeKey.id)
  expect(shown).not.toContain(storeKey.secret)
  const file = readFileSync(join(gate.config.dataDir, 'tollgate.db'), 'latin1')
  expect(file).not.toContain(storeKey.secret)
  await expect(gate.setOption('S3Endpoint', 'http://169.254.169.254')).rejects.toThrow('metadata')
  await expect(gate.setOption('S3Endpoint', 'file:///etc/passwd')).rejects.toThrow('http')
  await expect(gate.setOption('S3Bucket', '../other')).rejects.toThrow('S3Bucket')
  await expect(gate.setOption('S3Prefix', 'a/../../b')).rejects.toThrow('S3Prefix')
})
