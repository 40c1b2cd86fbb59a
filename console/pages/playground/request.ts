import type { ChatRequest, Value } from '../../components/chat-code.ts'
import type { Attachment } from './attachments.ts'
import type { Parameters } from './parameters.ts'
import type { FormatDraft, ToolDraft } from './tools.ts'
import type { Answer, Round, Turn } from './turns.ts'

/** The parts of the request that are the same for every model. */
export interface Extras {
  tools: readonly ToolDraft[]
  format: FormatDraft
}

type Message = { readonly [name: string]: Value }

/** Returns the content of an image or PDF as the request contains it. */
export type Content = (file: Attachment) => Value

const asData: Content = ({ content }) => content

function partOf(file: Attachment, content: Content): Message {
  if (file.kind === 'image') return { type: 'image_url', image_url: { url: content(file) } }
  if (file.kind === 'pdf') return { type: 'file', file: { filename: file.name, file_data: content(file) } }
  return { type: 'text', text: `${file.name}:\n\n${file.content}` }
}

function userMessage(question: string, attachments: readonly Attachment[], content: Content): Message {
  if (attachments.length === 0) return { role: 'user', content: question }
  const parts = attachments.map((file) => partOf(file, content))
  return { role: 'user', content: question === '' ? parts : [...parts, { type: 'text', text: question }] }
}

/**
 * A response as messages. Function calls without results are omitted, because providers reject requests that contain
 * them.
 */
function roundMessages({ text, calls, details }: Round): Message[] {
  const isAnswered = calls.length > 0 && calls.every(({ result }) => result !== undefined)
  if (!isAnswered) return text === '' ? [] : [{ role: 'assistant', content: text }]
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(details.length > 0 && { reasoning_details: details as readonly Value[] }),
      tool_calls: calls.map(({ id, name, arguments: args, extra }) => ({
        id,
        type: 'function',
        function: { name, arguments: args },
        ...(extra && { extra_content: extra as Value }),
      })),
    },
    ...calls.map(({ id, result = '' }) => ({ role: 'tool', tool_call_id: id, content: result })),
  ]
}

const answerMessages = ({ rounds }: Answer) => rounds.flatMap(roundMessages)

function toolOf({ name, description, parameters }: ToolDraft): Value {
  const schema = JSON.parse(parameters) as Value
  return { type: 'function', function: { name, ...(description !== '' && { description }), parameters: schema } }
}

function formatOf({ kind, name, schema }: FormatDraft): Value | undefined {
  if (kind === 'text') return undefined
  if (kind === 'json_object') return { type: kind }
  return { type: kind, json_schema: { name, schema: JSON.parse(schema) as Value, strict: true } }
}

/** A question to a model. */
export interface Ask {
  lane: number
  model: string
  turn: Pick<Turn, 'question' | 'attachments'>
  /** The answer so far, if the model continues after the results of function calls. */
  answer?: Answer
  parameters: Parameters
  extras: Extras
}

/**
 * The request that sends a question to a model. It contains the model's own earlier answers. For a turn that was not
 * sent to this model, the request contains the answer of the first model. Tools and format must be valid.
 */
export function requestFor(turns: readonly Turn[], ask: Ask, content: Content = asData): ChatRequest {
  const { lane, model, turn, answer, parameters, extras } = ask
  const { system, temperature, topP, maxTokens, effort } = parameters
  const before = turns.flatMap((each) => {
    const own = each.answers[lane] ?? each.answers[0]
    const replies = own ? answerMessages(own) : []
    return replies.length === 0 ? [] : [userMessage(each.question, each.attachments, content), ...replies]
  })
  const format = formatOf(extras.format)
  return {
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
      ...before,
      userMessage(turn.question, turn.attachments, content),
      ...(answer ? answerMessages(answer) : []),
    ],
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(extras.tools.length > 0 && { tools: extras.tools.map(toolOf) }),
    ...(format !== undefined && { response_format: format }),
  }
}
