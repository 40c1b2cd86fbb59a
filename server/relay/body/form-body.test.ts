import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readForm } from './form-body.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-form-'))
afterAll(() => rmSync(folder, { recursive: true }))

const spooled = () => (existsSync(folder) ? readdirSync(folder) : [])

test('the spool file of a large form is removed if the form is completed after its time limit', async () => {
  const head = '--mark\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
  const late = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(Buffer.from(head))
      controller.enqueue(new Uint8Array(1024 * 1024))
      await late.promise
      controller.enqueue(Buffer.from('\r\n--mark--\r\n'))
      controller.close()
    },
  })
  const limits = { bytes: 10 * 1024 * 1024, declared: Number.NaN, timeMs: 200 }
  const form = readForm(body, 'multipart/form-data; boundary=mark', limits, folder)
  await expect(form).rejects.toMatchObject({ code: 'request_timeout' })
  while (spooled().length === 0) await new Promise((resolve) => setImmediate(resolve))
  late.resolve()
  while (spooled().length > 0) await new Promise((resolve) => setImmediate(resolve))
  expect(spooled()).toEqual([])
})
