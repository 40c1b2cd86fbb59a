/**
 * The price of generated images. Models that report usage are charged by tokens. Other models are charged per image,
 * depending on size and quality.
 */
import { chargeTokens, type PriceSheet, roundUp } from './price.ts'

/** The values of an image request that determine its price. */
export interface ImageRequest {
  readonly model: string
  readonly size?: string
  readonly quality?: string
  readonly n?: number
  /** The number of images that are generated, if it differs from `n`. */
  readonly images?: number
  /** The length of the prompt in UTF-8 bytes. */
  readonly promptBytes: number
  /** The text tokens of the prompt, if they were counted. Otherwise the number of its bytes is the upper bound. */
  readonly promptTokens?: number
  /** The tokens of the images sent with the prompt. */
  readonly imagePromptTokens?: number
}

/** A price, or the error code if the request cannot be priced. */
export type ImageCharge =
  | {
      readonly ok: true
      /** The charge. For a model charged by tokens, it is an upper bound to hold until the usage is known. */
      readonly quota: number
      /**
       * True if the charge must be computed by `chargeTokens` from the usage that the upstream reports, with the output
       * as imageCompletionTokens.
       */
      readonly byTokens: boolean
      readonly n: number
      readonly size: string
    }
  | {
      readonly ok: false
      readonly code: 'size_not_supported' | 'n_not_within_range' | 'prompt_too_long'
      readonly message: string
      readonly param: string
    }

interface ImageModel {
  /** Maps sizes to price multipliers in thousandths. If absent, any size is accepted at the same price. */
  readonly sizes?: Readonly<Record<string, bigint>>
  readonly largestN: number
  readonly promptBytes?: number
}

const dallE2: ImageModel = {
  sizes: { '256x256': 1000n, '512x512': 1125n, '1024x1024': 1250n },
  largestN: 10,
  promptBytes: 1000,
}
const aliStableDiffusion: ImageModel = {
  sizes: { '512x1024': 1000n, '1024x768': 1000n, '1024x1024': 1000n, '576x1024': 1000n, '1024x576': 1000n },
  largestN: 4,
  promptBytes: 4000,
}
const models: Readonly<Record<string, ImageModel>> = {
  'dall-e': dallE2,
  'dall-e-2': dallE2,
  'dall-e-3': {
    sizes: { '1024x1024': 1000n, '1024x1792': 2000n, '1792x1024': 2000n },
    largestN: 1,
    promptBytes: 4000,
  },
  'ali-stable-diffusion-xl': aliStableDiffusion,
  'ali-stable-diffusion-v1.5': aliStableDiffusion,
  'wanx-v1': {
    sizes: { '1024x1024': 1000n, '720x1280': 1000n, '1280x720': 1000n },
    largestN: 4,
    promptBytes: 4000,
  },
  'cogview-3': { largestN: 1, promptBytes: 833 },
  'step-1x-medium': {
    sizes: {
      '256x256': 1000n,
      '512x512': 1000n,
      '768x768': 1000n,
      '1024x1024': 1000n,
      '1280x800': 1000n,
      '800x1280': 1000n,
    },
    largestN: 1,
    promptBytes: 4000,
  },
}
const gptImage: ImageModel = {
  sizes: { '1024x1024': 1000n, '1024x1536': 1500n, '1536x1024': 1500n, auto: 1500n },
  largestN: 10,
  promptBytes: 128_000,
}
const anyModel: ImageModel = { largestN: 10 }

/** The output tokens of a 1024x1024 image. For larger images, the number grows at most in proportion to their area. */
const squareTokens: readonly (readonly [pattern: RegExp, low: number, medium: number, high: number])[] = [
  [/^gpt-image-1(?:$|[-.])/, 272, 1056, 4160],
  [/^(?:gpt-image|chatgpt-image)/, 800, 2600, 7000],
  [/./, 2600, 2600, 2600],
]

/**
 * The price of an image request in quota, rounded up once. By default, n is 1 and the size is 1024x1024. If the model
 * is charged by tokens, the default is its most expensive size, because the model chooses the size if the request does
 * not.
 * @param groupRatio millionths
 */
export function imageCharge(request: ImageRequest, sheet: PriceSheet, groupRatio: bigint): ImageCharge {
  const perImage = imagePrice(sheet)
  const byTokens = perImage === undefined
  const model = models[request.model] ?? (/^gpt-image-1(?:$|[-.])/.test(request.model) ? gptImage : anyModel)
  const size = request.size || (byTokens ? 'auto' : '1024x1024')
  const n = request.n ?? 1
  if (!Number.isInteger(n) || n < 1 || n > model.largestN) {
    return refusal('n_not_within_range', 'n', `n must be from 1 to ${model.largestN} for ${request.model}`)
  }
  if (model.promptBytes !== undefined && request.promptBytes > model.promptBytes) {
    return refusal(
      'prompt_too_long',
      'prompt',
      `the prompt can have at most ${model.promptBytes} bytes for ${request.model}`,
    )
  }
  const sizeRatio = sizeRatioOf(model, size)
  if (sizeRatio === undefined) {
    const sizes = Object.keys(model.sizes ?? {}).join(', ')
    return refusal('size_not_supported', 'size', `size ${size} is not supported by ${request.model}; use ${sizes}`)
  }
  const images = request.images ?? n
  if (byTokens) return { ok: true, quota: ceiling(request, size, images, sheet, groupRatio), byTokens, n, size }
  const amount = perImage * sizeRatio * qualityRatio(request, size) * BigInt(images) * groupRatio
  return { ok: true, quota: roundUp(amount, 1_000_000n), byTokens, n, size }
}

/**
 * The price multiplier of a size. Only own properties are looked up, because names such as "constructor" are not sizes.
 */
function sizeRatioOf(model: ImageModel, size: string): bigint | undefined {
  if (!model.sizes) return 1000n
  return Object.hasOwn(model.sizes, size) ? model.sizes[size] : undefined
}

/** The price multiplier of the quality, in thousandths. */
function qualityRatio({ model, quality }: ImageRequest, size: string): bigint {
  if (model !== 'dall-e-3' || quality !== 'hd') return 1000n
  return size === '1024x1024' ? 2000n : 1500n
}

/**
 * The price of one image of the smallest size and lowest quality, in picoquota; undefined for models that are charged
 * by tokens.
 */
export function imagePrice(sheet: PriceSheet): bigint | undefined {
  return chargedByTokens(sheet) ? undefined : sheet.perCall + sheet.prices.input * 1000n
}

/**
 * True for models that report token usage. Any other model is charged per image, and its ratio is a thousandth of the
 * price of an image.
 */
function chargedByTokens(sheet: PriceSheet): boolean {
  return sheet.basis === 'tokens' && sheet.perCall === 0n && /^(?:gpt-|chatgpt-|gemini-)/.test(sheet.model)
}

function ceiling(request: ImageRequest, size: string, images: number, sheet: PriceSheet, groupRatio: bigint): number {
  const imagePromptTokens = request.imagePromptTokens ?? 0
  const completionTokens = images * outputTokens(request.model, size, request.quality)
  return chargeTokens(
    {
      promptTokens: (request.promptTokens ?? request.promptBytes) + imagePromptTokens,
      imagePromptTokens,
      completionTokens,
      imageCompletionTokens: completionTokens,
    },
    sheet,
    groupRatio,
  )
}

/**
 * The maximum and the usual number of tokens of an input image (OpenAI's guide to image generation, "Input fidelity").
 * `isClose` is true if the request asks for high input fidelity. Without that, some models choose the fidelity
 * themselves, so the maximum is high as well.
 */
export function shownImageTokens(model: string, isClose: boolean): { most: number; usual: number } {
  if (isClose) return { most: 6500, usual: 6500 }
  return { most: /^gpt-image-1(?:$|[-.])/.test(model) ? 500 : 6500, usual: 500 }
}

function outputTokens(model: string, size: string, quality: string | undefined): number {
  const [, low = 0, medium = 0, high = 0] = squareTokens.find(([pattern]) => pattern.test(model)) ?? []
  const square = quality === 'low' ? low : quality === 'medium' ? medium : high
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(size) ?? [size, '1024', '1536']
  const pixels = Math.max(Number(width) * Number(height), 1024 * 1024)
  return Math.ceil((square * pixels) / (1024 * 1024))
}

function refusal(
  code: 'size_not_supported' | 'n_not_within_range' | 'prompt_too_long',
  param: string,
  message: string,
): ImageCharge {
  return { ok: false, code, message, param }
}
