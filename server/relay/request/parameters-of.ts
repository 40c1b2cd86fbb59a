import type { CallParameters } from '../../../contract/api/log-request.ts'
import type { RequestFacts } from '../../dialects/neutral/dialect.ts'
import { partsOf } from '../../dialects/wire/service-tier.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { fieldsOf } from '../body/json-body.ts'
import type { CallBody } from '../call/call.ts'
import type { CallRoute } from '../call/call-routes.ts'
import { type MediaCounts, mediaIn } from './media-in.ts'

const words = (...list: string[]): ReadonlySet<string> => new Set(list)

// The words that may be stored for each kind of field. Other words are omitted, because callers may write any text into
// the fields.
const efforts = words('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')
const thinkings = words('enabled', 'disabled', 'adaptive')
const verbosities = words('low', 'medium', 'high')
const choiceKinds = words('auto', 'none', 'required', 'any', 'tool', 'function', 'custom', 'allowed_tools', 'validated')
const formats = words(
  ...['text', 'json_object', 'json_schema', 'url', 'b64_json', 'json', 'verbose_json', 'diarized_json', 'srt', 'vtt'],
  ...['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'],
)
const tiers = words('flex', 'priority', 'fast', 'scale', 'batch', 'ondemand_batch', 'performance')
const qualities = words('auto', 'low', 'medium', 'high', 'standard', 'hd')
const longestWord = 20

/** Numbers beyond this size are omitted. */
const largest = 1e9
const decimals = 1e4

/**
 * The parameters of a call that are not content, as numbers within bounds and words from lists. The fields of all
 * dialects are read without regard to the call's own dialect, because each name has the same meaning in every dialect
 * that uses it.
 */
export function parametersOf({ mode }: Pick<CallRoute, 'mode'>, body: CallBody, facts: RequestFacts): CallParameters {
  const parameters: CallParameters = {}
  if (facts.maxTokens !== undefined) put(parameters, 'max_tokens', integer(facts.maxTokens))
  if (facts.choices > 1) put(parameters, 'choices', integer(facts.choices))
  if (facts.tier !== undefined) put(parameters, 'service_tier', word(partsOf(facts.tier).tier, tiers))
  if (body.kind === 'form') {
    fromForm(parameters, body.form)
    return parameters
  }
  const json = fieldsOf(body)
  const config = json['generationConfig'] ?? json['generation_config']
  fromFields(parameters, json, isObject(config) ? config : json)
  if (mode !== 'chat') {
    fromOthers(parameters, json)
    return parameters
  }
  reasoningIn(parameters, json, isObject(config) ? config : undefined)
  toolsIn(parameters, json)
  const list = json['messages'] ?? json['input'] ?? json['contents']
  put(parameters, 'messages', itemsIn(list))
  if (facts.prompt.hasMedia || facts.prompt.isOpenEnded) Object.assign(parameters, counted(mediaIn(list)))
  return parameters
}

/** Parameters for sampling and output. Google has them in a separate object. */
function fromFields(parameters: CallParameters, json: JsonObject, config: JsonObject): void {
  put(parameters, 'temperature', decimal(config['temperature']))
  put(parameters, 'top_p', decimal(config['top_p'] ?? config['topP']))
  put(parameters, 'top_k', integer(config['top_k'] ?? config['topK']))
  put(parameters, 'response_format', config === json ? formatIn(json) : googleFormat(config))
}

/** Fields of calls other than conversations, such as embeddings, images and speech. */
function fromOthers(parameters: CallParameters, json: JsonObject): void {
  put(parameters, 'inputs', inputsIn(json['input'] ?? json['documents'] ?? json['prompt']))
  put(parameters, 'dimensions', integer(json['dimensions']))
  put(parameters, 'size', sizeIn(json['size']))
  put(parameters, 'quality', word(json['quality'], qualities))
}

function fromForm(
  parameters: CallParameters,
  { fields, names }: { fields: ReadonlyMap<string, string>; names: ReadonlyMap<string, number> },
): void {
  put(parameters, 'temperature', decimal(numberIn(fields.get('temperature'))))
  put(parameters, 'response_format', word(fields.get('response_format'), formats))
  put(parameters, 'size', sizeIn(fields.get('size')))
  put(parameters, 'quality', word(fields.get('quality'), qualities))
  const images = (names.get('image') ?? 0) + (names.get('image[]') ?? 0)
  if (images > 0) parameters.images = images
  const files = names.get('file') ?? 0
  if (files > 0) parameters.audio = files
}

function reasoningIn(parameters: CallParameters, json: JsonObject, config: JsonObject | undefined): void {
  const { thinking, reasoning, output_config: outputConfig, text } = json
  const google = config?.['thinkingConfig'] ?? config?.['thinking_config']
  const effort =
    json['reasoning_effort'] ??
    inner(reasoning, 'effort') ??
    inner(outputConfig, 'effort') ??
    inner(google, 'thinkingLevel')
  put(parameters, 'reasoning_effort', word(effort, efforts))
  put(parameters, 'thinking', word(inner(thinking, 'type'), thinkings))
  const budget = inner(thinking, 'budget_tokens') ?? inner(google, 'thinkingBudget') ?? inner(reasoning, 'max_tokens')
  put(parameters, 'thinking_tokens', integer(budget))
  put(parameters, 'verbosity', word(json['verbosity'] ?? inner(text, 'verbosity'), verbosities))
}

function toolsIn(parameters: CallParameters, json: JsonObject): void {
  const { tools, functions } = json
  const list = tools ?? functions
  if (Array.isArray(list) && list.length > 0) {
    let count = 0
    for (const tool of list as unknown[]) count += declarationsIn(tool)
    parameters.tools = count
  }
  const choice = json['tool_choice'] ?? json['toolConfig'] ?? json['tool_config']
  if (choice === undefined) return
  const google = inner(choice, 'functionCallingConfig') ?? inner(choice, 'function_calling_config')
  const kind = typeof choice === 'string' ? choice : (inner(google, 'mode') ?? inner(choice, 'type'))
  put(parameters, 'tool_choice', word(kind, choiceKinds))
}

/** The number of functions in an entry of the list of tools. In Google's dialect, one entry can have several. */
function declarationsIn(tool: unknown): number {
  const list = inner(tool, 'functionDeclarations') ?? inner(tool, 'function_declarations')
  return Array.isArray(list) ? list.length : 1
}

function formatIn(json: JsonObject): string | undefined {
  const { response_format: format, text, output_format: output, output_config: config } = json
  const kind =
    typeof format === 'string'
      ? format
      : (inner(format, 'type') ??
        inner(inner(text, 'format'), 'type') ??
        inner(output ?? inner(config, 'format'), 'type'))
  return word(kind, formats)
}

function googleFormat(config: JsonObject): string | undefined {
  const isJson = (config['responseMimeType'] ?? config['response_mime_type']) === 'application/json'
  if (!isJson) return undefined
  const schema = config['responseSchema'] ?? config['response_schema'] ?? config['responseJsonSchema']
  return schema === undefined ? 'json_object' : 'json_schema'
}

/** A text counts as one item. */
function itemsIn(list: unknown): number | undefined {
  if (typeof list === 'string') return 1
  return Array.isArray(list) ? list.length : undefined
}

/** A list of token numbers is one input. */
function inputsIn(list: unknown): number | undefined {
  return Array.isArray(list) && typeof list[0] === 'number' ? 1 : itemsIn(list)
}

function sizeIn(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > longestWord) return undefined
  return value === 'auto' || /^\d{2,5}x\d{2,5}$/.test(value) ? value : undefined
}

function counted({ images, audio, files }: MediaCounts): Partial<CallParameters> {
  return { ...(images > 0 && { images }), ...(audio > 0 && { audio }), ...(files > 0 && { files }) }
}

function put<Name extends keyof CallParameters>(
  parameters: CallParameters,
  name: Name,
  value: CallParameters[Name] | undefined,
): void {
  if (value !== undefined) parameters[name] = value
}

function inner(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined
}

function word(value: unknown, known: ReadonlySet<string>): string | undefined {
  if (typeof value !== 'string' || value.length > longestWord) return undefined
  const lower = value.toLowerCase()
  return known.has(lower) ? lower : undefined
}

function integer(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= largest ? value : undefined
}

function decimal(value: unknown): number | undefined {
  // The negated comparison also rejects NaN.
  if (typeof value !== 'number' || !(Math.abs(value) <= largest)) return undefined
  return Math.round(value * decimals) / decimals
}

/** The number in a form's field. */
function numberIn(text: string | undefined): number | undefined {
  return text === undefined || text.length > longestWord || text.trim() === '' ? undefined : Number(text)
}
