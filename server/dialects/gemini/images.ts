import { isObject, type JsonObject } from '../../lib/json.ts'
import { looseList, looseObject, looseText, wrongField } from '../neutral/fields.ts'
import { usageIn } from './usage.ts'

/**
 * For each of OpenAI's sizes, the nearest aspect ratio of Google's image models (Gemini API, "Image generation",
 * "Imagen").
 */
const shapes: Readonly<Record<string, string>> = {
  '1024x1024': '1:1',
  '512x512': '1:1',
  '256x256': '1:1',
  '1792x1024': '16:9',
  '1024x1792': '9:16',
  '1536x1024': '3:2',
  '1024x1536': '2:3',
}

/** Imagen supports fewer aspect ratios. */
const imagenShapes: Readonly<Record<string, string>> = { '3:2': '4:3', '2:3': '3:4' }

/** True for models that generate images with `predict`. Other models use generateContent. */
export function isImagen(model: string): boolean {
  return /(?:^|\/)imag(?:en|egeneration)/.test(model)
}

/** OpenAI's image request → Google's. Throws GatewayError (400) for a size without a known aspect ratio. */
export function imageRequest(body: JsonObject, model: string): JsonObject {
  const prompt = looseText(body['prompt'])
  const shape = shapeOf(body['size'])
  const count = typeof body['n'] === 'number' ? body['n'] : 1
  if (isImagen(model)) {
    const aspectRatio = shape && (imagenShapes[shape] ?? shape)
    return {
      instances: [{ prompt }],
      parameters: { sampleCount: count, ...(aspectRatio && { aspectRatio }) },
    }
  }
  if (count > 1) throw wrongField('n', '1 for this model')
  return {
    contents: [{ role: 'user', parts: [{ text: prompt }] }],
    generationConfig: { responseModalities: ['IMAGE'], ...(shape && { imageConfig: { aspectRatio: shape } }) },
  }
}

function shapeOf(size: unknown): string | undefined {
  if (size === undefined || size === null || size === 'auto') return undefined
  const text = looseText(size)
  const shape = shapes[text] ?? (/^\d+:\d+$/.test(text) ? text : undefined)
  if (shape === undefined) throw wrongField('size', `one of ${Object.keys(shapes).join(', ')}, or a ratio like 4:3`)
  return shape
}

/**
 * Google's images → OpenAI's response. If a filter removed all images, the result is an error that gives the reason.
 */
export function imageReply(answer: JsonObject): JsonObject {
  const predictions = looseList(answer['predictions'])
  const painted = predictions.flatMap((each) => looseText(each['bytesBase64Encoded']) || [])
  const parts = looseList(answer['candidates']).flatMap((each) => looseList(looseObject(each['content'])['parts']))
  const drawn = parts.flatMap((part) => {
    const inline = looseObject(part['inlineData'])
    return part['thought'] === true ? [] : looseText(inline['data']) || []
  })
  const images = [...painted, ...drawn]
  if (images.length === 0) return { error: { message: whyNone(answer, parts), type: 'invalid_request_error' } }
  const usage = usageIn(answer['usageMetadata'])
  return {
    data: images.map((b64_json) => ({ b64_json })),
    ...(usage && {
      usage: {
        input_tokens: usage.promptTokens,
        output_tokens: usage.completionTokens,
        total_tokens: usage.promptTokens + usage.completionTokens,
        ...((usage.imageCompletionTokens || usage.reasoningTokens) && {
          output_tokens_details: {
            ...(usage.imageCompletionTokens && { image_tokens: usage.imageCompletionTokens }),
            ...(usage.reasoningTokens && { reasoning_tokens: usage.reasoningTokens }),
          },
        }),
      },
    }),
  }
}

function whyNone(answer: JsonObject, parts: readonly JsonObject[]): string {
  const modelText = parts.map((part) => looseText(part['text'])).find((text) => text !== '')
  const filtered = looseList(answer['predictions']).map((each) => looseText(each['raiFilteredReason']))
  const [candidate] = looseList(answer['candidates'])
  const feedback = answer['promptFeedback']
  const reason =
    filtered.find((text) => text !== '') ||
    looseText(candidate?.['finishMessage']) ||
    looseText(candidate?.['finishReason']) ||
    (isObject(feedback) ? looseText(feedback['blockReason']) : '')
  return `the model generated no image${reason || modelText ? `: ${reason || modelText}` : ''}`
}
