// Images with a price per image: the charge covers the images that arrive, and the hold covers the most that could
// arrive.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, expectError, type Rig, see, startRelayRig } from './setup.ts'

/** The units charged for one image: ratio 3 × 1000. */
const each = 3000
let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: '{"painter":3}' } })
  await rig.channel({ models: 'painter' })
})
afterAll(() => rig[Symbol.asyncDispose]())

const path = '/v1/images/generations'
const ask = { model: 'painter', prompt: 'a bridge' }

describe('the images that arrive are charged:', () => {
  test.each<[string, object, number]>([
    ['as many images as n', { n: 4 }, 4],
    ['fewer images than n', { n: 4 }, 1],
    ['none of the n images', { n: 4 }, 0],
    ['as many images as batch_size', { batch_size: 4 }, 4],
    ['fewer images than num_outputs', { num_outputs: 4 }, 3],
    ['a series', { sequential_image_generation: 'auto', sequential_image_generation_options: { max_images: 5 } }, 5],
    ['a series whose length the model decides', { sequential_image_generation: 'auto' }, 12],
    ['no series', { sequential_image_generation: 'disabled' }, 1],
    ['more images than requested', {}, 2],
  ])('%s', async (_, fields, count) => {
    const caller = await rig.caller()
    rig.upstream.next(fake.okImages({ count }))
    const seen = await see(rig.gateway.post(path, { ...ask, ...fields }, caller.token))
    expect(seen.status).toBe(200)
    await charged(rig, caller, each * count)
  })

  test('an image that failed among others is not charged', async () => {
    const caller = await rig.caller()
    const data = [{ url: 'http://127.0.0.1/image.png' }, { error: { code: 'filtered', message: 'not shown' } }]
    rig.upstream.next(fake.behaviour('half', (exchange) => sendJson(exchange, 200, { created: 1, data })))
    const seen = await see(rig.gateway.post(path, { ...ask, n: 2 }, caller.token))
    expect(seen.status).toBe(200)
    await charged(rig, caller, each)
  })
})

describe('the balance must cover the largest number of images that could arrive:', () => {
  test.each<[string, object, number]>([
    ['n', { n: 4 }, 4],
    ['batch_size', { batch_size: 4 }, 4],
    ['num_images beside a smaller n', { n: 2, num_images: 4 }, 4],
    ['max_images', { sequential_image_generation: 'auto', sequential_image_generation_options: { max_images: 5 } }, 5],
    ['a series of any length', { sequential_image_generation: 'auto' }, 15],
  ])('%s', async (_, fields, most) => {
    const poor = await rig.caller({ user: each * most - 1 })
    const refused = await see(rig.gateway.post(path, { ...ask, ...fields }, poor.token))
    expectError(refused, 403, 'insufficient_user_quota')
    const caller = await rig.caller({ user: each * most })
    rig.upstream.next(fake.okImages({ count: 1 }))
    const seen = await see(rig.gateway.post(path, { ...ask, ...fields }, caller.token))
    expect(seen.status).toBe(200)
  })
})

test('a duplicate field for the number of images is refused', async () => {
  const caller = await rig.caller()
  const body = '{"model":"painter","prompt":"a bridge","batch_size":1,"batch_size":4}'
  const seen = await see(
    fetch(rig.gateway.url + path, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${caller.token}`, 'content-type': 'application/json' },
    }),
  )
  expectError(seen, 400, 'invalid_field_value')
  await charged(rig, caller, 0)
})
