import * as z from 'zod/mini'
import { captureTargets } from '../capture-targets.ts'
import { endpoint, idParams } from './endpoint.ts'
import { numberFilter, wordFilter } from './list-query.ts'

/** The longest time for which a rule may run. */
export const longestCaptureSeconds = 7 * 86_400
/** The largest number of rules that run at the same time. */
export const mostCaptureRules = 50
/** The limit, in bytes, of each recorded body. */
export const captureSizes = { min: 1024, max: 4 * 1024 * 1024, default: 256 * 1024 } as const
export const mostRedactions = 20
export const longestRedaction = 100

/** The kinds of personal data that a rule can remove by pattern, without a list of texts. */
export const redactionKinds = ['@email', '@card', '@phone', '@ip'] as const

const redaction = z.string().check(
  z.trim(),
  z.minLength(1),
  z.maxLength(longestRedaction),
  z.refine((text) => !text.startsWith('@') || redactionKinds.some((kind) => kind === text)),
  z.refine((text) => text.replaceAll('*', '') !== ''),
)

/** A rule as it was created. It ends when `until` has passed. */
export const captureRuleSchema = z.object({
  id: z.int(),
  target: z.enum(captureTargets).check(z.describe('Whether a user, a token or a channel is recorded.')),
  target_id: z.int().check(z.describe('Id of the user, token or channel.')),
  target_name: z.string().check(z.describe('Name of the user, token or channel when the rule was made.')),
  created_at: z.int().check(z.describe('Epoch seconds.')),
  until: z.int().check(z.describe('When recording ends or ended, in epoch seconds.')),
  created_by: z.int().check(z.describe('Id of the user who made the rule.')),
  created_by_name: z.string().check(z.describe('Username of the user who made the rule, at that time.')),
  redactions: z.array(z.string()).check(z.describe('Texts that are removed from the recorded bodies.')),
  size_limit: z.int().check(z.describe('Bytes of each body that are kept.')),
  captured: z.int().check(z.describe('Number of recorded requests that are still kept.')),
})

export type CaptureRule = z.output<typeof captureRuleSchema>

const partSchema = z.object({
  type: z
    .enum(['text', 'reasoning', 'tool_call', 'tool_result', 'media', 'refusal', 'other'])
    .check(z.describe('Kind of the part.')),
  text: z
    .string()
    .check(z.describe('The text; the input or result of a tool; or, for a file, its URL or id, or its type and size.')),
  name: z.string().check(z.describe('Name of the tool, or kind of the media; otherwise empty.')),
})

const turnSchema = z.object({
  role: z.enum(['system', 'user', 'assistant']).check(z.describe('Who speaks.')),
  parts: z.array(partSchema).check(z.describe('The parts of the turn, in order.')),
})

export type CapturedTurn = z.output<typeof turnSchema>

const bodySchema = z.object({
  text: z.string().check(z.describe('The body, after redaction.')),
  size: z.int().check(z.describe('Length of the whole body in bytes.')),
  truncated: z.boolean().check(z.describe('True if only the beginning was kept.')),
  turns: z
    .array(turnSchema)
    .check(z.describe('The same body as a conversation; empty if it cannot be read as one, such as a truncated body.')),
})

export type CapturedBody = z.output<typeof bodySchema>

const attemptSchema = z.object({
  channel_id: z.int().check(z.describe('Id of the channel.')),
  channel_name: z.string().check(z.describe('Name of the channel at that time.')),
  dialect: z
    .string()
    .check(z.describe('API format of the request to the upstream; empty if it is not a conversation.')),
  status: z.int().check(z.describe('HTTP status of the response; 0 if none arrived.')),
  request: bodySchema.check(z.describe('The body as it was sent to the channel.')),
  response: bodySchema.check(z.describe('The body of the response of the channel.')),
})

export const captureSchema = z.object({
  request_id: z.string().check(z.describe('Id of the request.')),
  created_at: z.int().check(z.describe('Epoch seconds.')),
  user_id: z.int(),
  token_id: z.int().check(z.describe('Id of the token.')),
  path: z.string().check(z.describe('The path that was called, without its query.')),
  dialect: z.string().check(z.describe('API format of the request of the caller.')),
  headers: z
    .array(z.object({ name: z.string(), value: z.string() }))
    .check(z.describe('Headers of the request, except those that can contain a key.')),
  request: bodySchema.check(z.describe('The body as the caller sent it.')),
  attempts: z.array(attemptSchema).check(z.describe('The recorded attempts to call a channel, in order.')),
  status: z.int().check(z.describe('HTTP status of the response to the caller; 0 if the caller disconnected first.')),
  response: bodySchema.check(z.describe('The body of the response to the caller.')),
})

export type Capture = z.output<typeof captureSchema>

const captureChoiceSchema = z.object({
  id: z.int(),
  name: z.string().check(z.describe('Name of the user, token or channel.')),
  detail: z
    .string()
    .check(z.describe('For a user, the display name; for a token, the username of its owner; for a channel, empty.')),
})

export type CaptureChoice = z.output<typeof captureChoiceSchema>

/** The maximum number of choices in one response. */
export const mostCaptureChoices = 20

const until = z.int().check(z.positive(), z.describe('Epoch seconds, at most 7 days from now.'))

/** Request ids consist of digits, so they cannot be confused with the other paths, such as `/api/capture/self`. */
const requestParams = z.object({
  request_id: z.string().check(z.regex(/^\d{31}$/), z.describe('Id of the request.')),
})

export const captureApi = {
  rules: endpoint({
    method: 'GET',
    path: '/api/capture/rule/',
    access: 'root',
    data: z.array(captureRuleSchema),
    summary: 'List the newest 100 recording rules, newest first',
  }),
  addRule: endpoint({
    method: 'POST',
    path: '/api/capture/rule/',
    access: 'root',
    body: z.object({
      target: z.enum(captureTargets).check(z.describe('Whether a user, a token or a channel is recorded.')),
      target_id: z.int().check(z.positive(), z.describe('Id of the user, token or channel.')),
      until,
      redactions: z._default(
        z
          .array(redaction)
          .check(
            z.maxLength(mostRedactions),
            z.describe(
              'Texts to remove from the recorded bodies. * matches the rest of a word. Upper and lower case are treated alike. @email, @card, @phone and @ip remove all texts that look like one.',
            ),
          ),
        [],
      ),
      size_limit: z._default(
        z
          .int()
          .check(z.gte(captureSizes.min), z.lte(captureSizes.max), z.describe('Bytes of each body that are kept.')),
        captureSizes.default,
      ),
    }),
    data: captureRuleSchema,
    summary: 'Record the requests of a user, token or channel for a limited time',
    description:
      'From now on until the time in `until`, four bodies of each matching request are stored, encrypted: the request as the caller sent it, the request as it was sent upstream, the response of the upstream, and the response to the caller. Keys are never stored. The users whose requests are recorded are told. Before the rule is created, the storage is tested.',
  }),
  endRule: endpoint({
    method: 'POST',
    path: '/api/capture/rule/{id}/end',
    access: 'root',
    params: idParams,
    data: captureRuleSchema,
    summary: 'End a recording rule; its recordings are kept until their retention ends',
  }),
  own: endpoint({
    method: 'GET',
    path: '/api/capture/self',
    access: 'user',
    data: z.object({
      until: z
        .int()
        .check(
          z.describe(
            'Time (epoch seconds) until which all requests of the caller are recorded; 0 means that they are not.',
          ),
        ),
      some_until: z
        .int()
        .check(
          z.describe(
            'Time (epoch seconds) until which a channel is recorded, that is, the requests of any user that the channel serves; 0 means that no channel is recorded.',
          ),
        ),
      tokens: z
        .array(z.object({ id: z.int(), until: z.int().check(z.describe('Epoch seconds.')) }))
        .check(z.describe("The caller's tokens whose requests are recorded.")),
    }),
    summary: "Get whether the caller's own requests are being recorded",
  }),
  choices: endpoint({
    method: 'GET',
    path: '/api/capture/choices',
    access: 'root',
    query: z.object({
      target: z.enum(captureTargets).check(z.describe('Whether users, tokens or channels are listed.')),
      keyword: wordFilter(100, 'Only entries whose `name` or `detail` contains this text, or whose id equals it.'),
      id: numberFilter(Number.MAX_SAFE_INTEGER, 'Only the entry with this id; 0 means any.'),
    }),
    data: z.array(captureChoiceSchema),
    summary: 'List users, tokens or channels whose requests can be recorded, by name, at most 20',
  }),
  read: endpoint({
    method: 'GET',
    path: '/api/capture/{request_id}',
    access: 'root',
    params: requestParams,
    data: z.nullable(captureSchema),
    changesState: 'record',
    summary: 'Read a recorded request; the audit log records who read it',
    description: '`data` is null if the request was not recorded, or if its recording has been deleted.',
  }),
}

export type OwnCapture = z.output<typeof captureApi.own.data>
