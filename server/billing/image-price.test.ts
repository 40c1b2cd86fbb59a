import { describe, expect, test } from 'bun:test'
import { imageCharge } from './image-price.ts'
import { ratioOne } from './price.ts'
import { createPriceBook, type PriceOptions } from './price-book.ts'

type Request = { model: string; size?: string; quality?: string; n?: number; promptBytes?: number }

function charge(request: Request, options: PriceOptions = {}, group = ratioOne) {
  const sheet = createPriceBook(options).sheet(request.model, 1)
  if (!sheet) throw new Error(`${request.model} has no price`)
  return imageCharge({ promptBytes: 100, ...request }, sheet, group)
}

const quota = (...given: Parameters<typeof charge>) => {
  const made = charge(...given)
  return made.ok ? made.quota : made.code
}

describe('per image', () => {
  test.each<[Request, number]>([
    [{ model: 'dall-e-3', size: '1024x1792', quality: 'hd' }, 60_000],
    [{ model: 'dall-e-3', quality: 'hd' }, 40_000],
    [{ model: 'dall-e-3' }, 20_000],
    [{ model: 'dall-e-3', size: '1792x1024', quality: 'standard' }, 40_000],
    [{ model: 'dall-e-2' }, 10_000],
    [{ model: 'dall-e-2', n: 3, size: '256x256' }, 24_000],
    [{ model: 'dall-e-2', n: 10, size: '512x512' }, 90_000],
    [{ model: 'dall-e-2', quality: 'hd' }, 10_000],
    [{ model: 'cogview-3', size: 'anything' }, 7143],
    [{ model: 'black-forest-labs/flux-1.1-pro', size: '1440x1440' }, 20_000],
  ])('%p', (request, expected) => {
    expect(quota(request)).toBe(expected)
  })

  test('dall-e-3 in hd at 1024x1792, with ratio 20 and group ratio 1, costs 60,000 (reference example C)', () => {
    expect(quota({ model: 'dall-e-3', size: '1024x1792', quality: 'hd' }, { ModelRatio: '{"dall-e-3":20}' })).toBe(
      60_000,
    )
  })

  test('applies the group ratio, a model ratio option and an image price option', () => {
    expect(quota({ model: 'dall-e-3' }, {}, 1_100_000n)).toBe(22_000)
    expect(quota({ model: 'my-painter', n: 2 }, { ModelRatio: '{"my-painter":3}' })).toBe(6000)
    expect(quota({ model: 'dall-e-3', quality: 'hd' }, { ModelPrice: '{"dall-e-3":0.05}' })).toBe(50_000)
  })

  test.each<[Request, ReturnType<typeof quota>]>([
    [{ model: 'dall-e-3', size: '512x512' }, 'size_not_supported'],
    [{ model: 'dall-e-2', size: 'constructor' }, 'size_not_supported'],
    [{ model: 'gpt-image-1', size: '4096x4096' }, 'size_not_supported'],
    [{ model: 'dall-e-3', n: 2 }, 'n_not_within_range'],
    [{ model: 'dall-e-2', n: 0 }, 'n_not_within_range'],
    [{ model: 'dall-e-2', n: 1.5 }, 'n_not_within_range'],
    [{ model: 'dall-e-2', n: -1 }, 'n_not_within_range'],
    [{ model: 'dall-e-2', promptBytes: 1001 }, 'prompt_too_long'],
    [{ model: 'cogview-3', promptBytes: 834 }, 'prompt_too_long'],
  ])('refuses %p', (request, code) => {
    expect(quota(request)).toBe(code)
  })
})

describe('the hold for an image that is charged by tokens is an upper bound of the charge', () => {
  test.each<[Request, number]>([
    [{ model: 'gpt-image-1', size: '1024x1024', quality: 'low' }, 100 * 2.5 + 272 * 20],
    [{ model: 'gpt-image-1', size: '1024x1536', quality: 'high' }, 100 * 2.5 + 6240 * 20],
    [{ model: 'gpt-image-1' }, 100 * 2.5 + 6240 * 20],
    [{ model: 'gpt-image-1-mini', size: '1024x1024', quality: 'medium', n: 2 }, 100 + 2 * 1056 * 4],
    [{ model: 'gpt-image-1.5', size: '1024x1024', quality: 'high' }, 100 * 2.5 + 4160 * 16],
  ])('%p', (request, expected) => {
    expect(charge(request)).toMatchObject({ ok: true, byTokens: true, quota: expected })
  })

  test('larger images of newer models need a larger hold', () => {
    const small = quota({ model: 'gpt-image-2', size: '1024x1024' })
    const large = quota({ model: 'gpt-image-2', size: '3840x2160' })
    expect(Number(large)).toBeGreaterThan(7 * Number(small))
  })
})
