import type { Usage } from '../../../contract/usage.ts'
import { imageCharge, shownImageTokens } from '../../billing/image-price.ts'
import { chargeTokens, type PriceSheet } from '../../billing/price.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import type { RelayCall } from '../call/call.ts'
import { type Charging, fixedCharging } from './charging-types.ts'

/** An image call, priced by the image or by tokens. Throws GatewayError if it cannot be priced. */
export function imageCharging(call: RelayCall, sheet: PriceSheet, groupRatio: bigint, model: string): Charging {
  const field = (name: string) =>
    call.state.body.kind === 'json' ? call.state.body.json[name] : call.state.body.form.fields.get(name)
  // If a field affects the price, the gateway and the service must read the same value from it.
  const text = (name: string) => {
    const value = field(name)
    if (value === undefined || value === null) return {}
    if (typeof value !== 'string')
      throw new GatewayError('invalid_field_value', `${name} must be a string`, { param: name })
    return { [name]: value }
  }
  const n = countOf(field('n'))
  const prompt = field('prompt')
  const request = {
    model,
    ...text('size'),
    ...text('quality'),
    ...(n !== undefined && { n }),
    promptBytes: typeof prompt === 'string' ? Buffer.byteLength(prompt) : 0,
  }
  const mostImages = mostImagesOf(n ?? 1, field)
  const shown = imagesShown(call)
  const shownTokens = shownImageTokens(model, field('input_fidelity') === 'high')
  const priceOf = (images: number, tokensOfShown: number) => {
    const result = imageCharge({ ...request, images, imagePromptTokens: shown * tokensOfShown }, sheet, groupRatio)
    if (result.ok) return result
    throw new GatewayError(result.code, result.message, { param: result.param })
  }
  const { quota: most, byTokens } = priceOf(mostImages, shownTokens.most)
  return fixedCharging(
    sheet,
    groupRatio,
    most,
    most,
    ({ usage, estimated, cut, images = cut?.images ?? mostImages }) => {
      // If images arrived, a usage report without any output tokens is treated as missing.
      const reported = byTokens && !estimated && (usage.completionTokens > 0 || images === 0)
      const quota = reported
        ? chargeTokens({ ...usage, imageCompletionTokens: paintedTokens(usage) }, sheet, groupRatio)
        : priceOf(images, shownTokens.usual).quota
      return {
        quota,
        promptTokens: reported ? usage.promptTokens : 0,
        completionTokens: reported ? usage.completionTokens : 0,
        estimated: byTokens && estimated,
      }
    },
  )
}

/**
 * The output tokens of images. If the usage does not list them, every output token that is not reasoning counts as an
 * image token, because models charged by tokens respond only with images.
 */
function paintedTokens({ completionTokens, reasoningTokens = 0, imageCompletionTokens }: Usage): number {
  return imageCompletionTokens ?? completionTokens - reasoningTokens
}

/** The number of images and masks in the request. */
function imagesShown({ state: { body } }: RelayCall): number {
  if (body.kind === 'json') {
    const lists = [body.json['image'], body.json['images'], body.json['mask']]
    return lists.flat().filter((each) => each !== undefined && each !== null).length
  }
  const files = [...body.form.names].filter(([name]) => /^(?:images?|mask)(?:\[\d*\])?$/.test(name))
  return files.reduce((sum, [, count]) => sum + count, 0)
}

/** The names that other services use for `n`, the number of images. These fields are passed on unchanged. */
export const imageCountFields = ['batch_size', 'num_images', 'num_outputs', 'number_of_images', 'samples'] as const
/**
 * The maximum number of images in a Volcengine image series if the caller lets the model decide how many it generates
 * (Volcengine API reference, "max_images").
 */
const longestSeries = 15

/**
 * The most images that the response can contain. All field names that any service uses for the number of images are
 * read.
 */
function mostImagesOf(n: number, field: (name: string) => unknown): number {
  const counts = imageCountFields.map((name) => wholeNumber(field(name)))
  const series = field('sequential_image_generation')
  if (typeof series === 'string' && series !== 'disabled') {
    const options = field('sequential_image_generation_options')
    counts.push((isObject(options) ? wholeNumber(options['max_images']) : undefined) ?? longestSeries)
  }
  return Math.max(n, ...counts.map((count) => count ?? 0))
}

/** The number of images: a whole number, or a string of digits in a form. */
function countOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  const n = wholeNumber(value)
  if (n !== undefined) return n
  throw new GatewayError('n_not_within_range', 'n must be a whole number', { param: 'n' })
}

/** The number of images that a streaming request asks for. In the stream, each image ends with its own event. */
export function imagesRequested({ state: { body } }: RelayCall): number {
  return wholeNumber(body.kind === 'json' ? body.json['n'] : body.form.fields.get('n')) ?? 1
}

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\s*-?\d{1,9}\s*$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined
}
