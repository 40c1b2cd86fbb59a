import type { ContextSizes, Failure } from '../neutral/reply.ts'

/** An error as a service reports it. Status 0 means that the status is unknown. */
export interface ServiceError {
  readonly status: number
  readonly message: string
  /** The service's own codes for the kind of error, if it sends any. */
  readonly words: readonly string[]
}

/**
 * Statuses of errors about the key, the account, the URL or the rate. Such an error is never about the context, even if
 * its message mentions tokens.
 */
const otherMatters: ReadonlySet<number> = new Set([401, 402, 403, 404, 429])

const codes =
  /context_(?:length|window|size|limit)|contextwindow|prompt_tokens_exceeded|tokens?_(?:limit_reached|too_long)|(?:input|prompt)_too_long/i

/** Wordings for a prompt that does not fit, in lower case. They name the context, the prompt or the input. */
const clearWordings: readonly RegExp[] = [
  /context(?: token)? (?:length|window|size|limit).{0,80}(?:exceed|longer|overflow|too (?:long|large|small))/,
  /(?:exceed|longer than|larger than|greater than|beyond|overflow|maximum|>).{0,60}context(?: token)? (?:length|window|size|limit)/,
  /context the overflows/,
  /\b(?:prompts?|inputs?)(?:'s)?(?: (?:tokens?|text|length|messages?|size|is|was|are))* too (?:long|large)\b/,
  /\b(?:prompt|input)\b.{0,40}exceed.{0,40}\b(?:length|limit)/,
  /\b(?:prompt|input) tokens? .{0,40}exceed/,
  /exceed.{0,20}\bmodel token limit/,
  /input length \d+ exceeds/,
  /\btoo many input tokens\b/,
  /input token count is \d+ but/,
  /range of input length should be/,
  /\bmax(?:imum)? (?:allowed )?(?:prompt|input|model) (?:length|characters|tokens?)\b/,
  /`inputs` (?:tokens|must have less)/,
  /must be less than max_seq_len/,
  /max length of current question/,
  /(?:prompt|输入|上下文|对话).{0,12}(?:超长|过长|太长|超过|超出)/,
]

/** Wordings that mention only tokens. They are ignored in an error of the server (5xx or 408). */
const looseWordings: readonly RegExp[] = [
  /\btokens?\b.{0,80}exceed/,
  /exceed.{0,80}\btokens?\b/,
  /\btoo many tokens\b/,
  /current length is \d+ while limit is/,
  /max size: \d+ tokens/,
  /(?:tokens?|文本).{0,12}(?:超长|过长|太长|超过|超出)/,
]

/** Words with which a server describes its own problems. */
const ofServer = /\bin[- ]flight\b|capacity|queue|buffer|worker|overload|crash|\bmemory\b|\bbusy\b|time(?:d )?-?out/

/** Wordings about other limits, which resemble wordings about the context. */
const otherLimits =
  /rate limit|per (?:min|day|hour|second|week|month)|\b(?:hourly|daily|weekly|monthly)\b|\b[tr]p[md]\b|throttl|please wait|quota|spending|allowance|(?:string|array) too long|\b(?:images?|files?|audio|video|tools?|embeddings?) (?:is |are )?too (?:long|large|many)/
/** Wordings for a limit that applies only to the answer. */
const ofAnswer = /max_?(?:output_?|completion_?|new_?)?tokens|(?:output|completion) tokens/i
const ofPrompt = /context|prompt|input|messages/i

/** The sizes in an error about prompt and answer exceeding the model's context; undefined for every other error. */
export function contextSizes({ status, message, words }: ServiceError): ContextSizes | undefined {
  if (otherMatters.has(status) || words.includes('string_above_max_length')) return undefined
  const text = message.slice(0, 2_000).toLowerCase()
  if (words.some((word) => codes.test(word))) return sizesIn(text)
  if (otherLimits.test(text) || (ofAnswer.test(text) && !ofPrompt.test(text))) return undefined
  return says(status, text) ? sizesIn(text) : undefined
}

/**
 * True if the wording of an error means that the prompt is too long. If the server failed or timed out (5xx or 408),
 * this requires a wording that names the context, the prompt or the input.
 */
function says(status: number, text: string): boolean {
  const isServers = status >= 500 || status === 408
  if (isServers && ofServer.test(text)) return false
  const isIn = (wording: RegExp) => wording.test(text)
  return clearWordings.some(isIn) || (!isServers && looseWordings.some(isIn))
}

const number = '(\\d[\\d,]*)'
const limits = [
  `> ${number} maximum`,
  `context limit: \\d+ \\+ \\d+ > ${number}`,
  `(?:maximum|max|allowed|available|model's|limit|up to|only|less than|with)(?:(?!\\bby\\b|exceed|too large)[a-z _'\`]){0,60}(?:is|of|:|=|<=)?\\s*\\(?${number}(?! input)`,
  `should be \\[\\d+, ?${number}\\]`,
  `must be <= ${number}`,
].map((each) => new RegExp(each))
const prompts = [
  `${number} (?:tokens )?(?:in (?:the|your) (?:messages|prompt)|of text input|from the input|input tokens|\`inputs\` tokens)`,
  `exceed context limit: ${number} \\+`,
].map((each) => new RegExp(each))
const outputs = [
  `${number} (?:tokens )?(?:in|for) the completion`,
  `${number} \`max_new_tokens\``,
  `too large: ${number}`,
  `exceed context limit: \\d+ \\+ ${number}`,
].map((each) => new RegExp(each))

/** MiniMax appends its four-digit error code to the message. */
const codeBehind = / \(\d{4}\)$/

function sizesIn(message: string): ContextSizes {
  const text = message.replace(codeBehind, '')
  const limit = firstOf(limits, text)
  const prompt = firstOf(prompts, text) ?? (limit === undefined ? undefined : largestBeyond(limit, text))
  const output = firstOf(outputs, text)
  return {
    ...(limit !== undefined && { limit }),
    ...(prompt !== undefined && { prompt }),
    ...(output !== undefined && { output }),
  }
}

function firstOf(patterns: readonly RegExp[], text: string): number | undefined {
  for (const pattern of patterns) {
    const digits = pattern.exec(text)?.[1]
    if (digits) return Number(digits.replaceAll(',', ''))
  }
  return undefined
}

/** The size of the prompt is the largest number in the message, if that number is larger than the limit. */
function largestBeyond(limit: number, text: string): number | undefined {
  const numbers = [...text.matchAll(/\d[\d,]*/g)].map(([digits]) => Number(digits.replaceAll(',', '')))
  const largest = Math.max(...numbers.filter(Number.isSafeInteger))
  return largest > limit ? largest : undefined
}

/** OpenAI's code for a context that is too long. */
export const contextCode = 'context_length_exceeded'

/** The failure to report for a context that is too long. */
export function contextFailure(message: string, context: ContextSizes): Failure {
  return { status: 400, kind: 'context-length', message, context, type: 'invalid_request_error', code: contextCode }
}

/**
 * If the failure means that the context is too long, returns it as a context failure. Returns any other failure
 * unchanged.
 */
export function readContext(failure: Failure): Failure {
  const { kind, status, message, code = '', type = '' } = failure
  const words = kind === 'context-length' ? [contextCode] : [code, type]
  const context = contextSizes({ status: kind === 'context-length' ? 400 : status, message, words })
  return context ? contextFailure(message, context) : failure
}

/** The message of a context failure in OpenAI's wording, which client programs recognize. */
export function openAiWords({ message, context = {} }: Failure): string {
  if (/maximum context length is|context window/i.test(message)) return message
  const { limit, prompt } = context
  if (limit === undefined || prompt === undefined) return `This model's maximum context length is exceeded: ${message}`
  return `This model's maximum context length is ${limit} tokens. However, your request has ${prompt} tokens. Please reduce its length.`
}

/**
 * The message of a context failure in Anthropic's wording, which makes Claude Code shorten its history or request a
 * shorter answer.
 */
export function anthropicWords({ message, context = {} }: Failure): string {
  if (isAnthropics(message)) return message
  const { limit, prompt, output } = context
  if (limit !== undefined && prompt !== undefined && prompt > limit)
    return `prompt is too long: ${prompt} tokens > ${limit} maximum`
  if (limit !== undefined && prompt !== undefined && output !== undefined)
    return `input length and \`max_tokens\` exceed context limit: ${prompt} + ${output} > ${limit}, decrease input length or \`max_tokens\` and try again`
  return `prompt is too long: ${message}`
}

/**
 * True if the message already has a wording by which client programs of Anthropic's API recognize a context that is too
 * long.
 */
export function isAnthropics(message: string): boolean {
  return /^prompt is too long\b|^input length and `max_tokens` exceed context limit: \d/i.test(message)
}

/** The message of a context failure in Google's wording. */
export function googleWords({ message, context = {} }: Failure): string {
  const { limit, prompt } = context
  if (/token count/i.test(message) || limit === undefined || prompt === undefined || prompt <= limit) return message
  return `The input token count (${prompt}) exceeds the maximum number of tokens allowed (${limit}).`
}
