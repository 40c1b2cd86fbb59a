import type { JsonObject } from '../../lib/json.ts'
import { isObject } from '../../lib/json.ts'
import { type ChatRequest, cannotSay } from '../chat-based/chat-based.ts'
import { fillerTurn, gap, plainTurns, type Turn, textTurns } from '../chat-based/plain-turns.ts'
import { looseText } from '../neutral/fields.ts'

/** Limits of the service, which refuses requests outside them (Qianfan API reference, "ERNIE-4.0-8K"). */
const leastTemperature = 0.01
const leastTokens = 2

/** A request to Baidu's `wenxinworkshop/chat`. Throws GatewayError (400) for anything that it does not support. */
export function requestOut(request: ChatRequest): JsonObject {
  const { system, turns } = plainTurns(request.messages)
  for (const { thought, calls } of turns) if (thought && !calls?.length) request.lose('thought', thought)
  const maxTokens = request.maxTokens
  // The service does not support negative penalties.
  const frequency = request.takeWithin('frequency_penalty', 0, 2)
  const format = request.takeFormat()
  if (format === 'json_schema') request.lose('format', format)
  return {
    // If there is only a system message, it is sent as a user message so that there is a turn to answer.
    messages: messagesOut(turns.length === 0 && system !== '' ? [{ role: 'user', text: system }] : turns),
    ...(system !== '' && turns.length > 0 && { system }),
    stream: request.stream,
    temperature: request.takeWithin('temperature', leastTemperature, 1),
    top_p: request.takeWithin('top_p', leastTemperature, 1),
    // The value that means no penalty is 1 for this service and 0 for OpenAI.
    ...(frequency !== undefined && { penalty_score: 1 + frequency / 2 }),
    ...(maxTokens !== undefined && { max_output_tokens: Math.max(leastTokens, maxTokens) }),
    stop: request.takeStop(),
    user_id: request.take('user'),
    ...(format !== undefined && { response_format: 'json_object' }),
    ...functionsOut(request),
    ...request.takeUnknown(),
  }
}

function functionsOut(request: ChatRequest): JsonObject {
  const choice = request.take('tool_choice')
  const functions = request.functions
  if (functions.length === 0 || choice === 'none') return {}
  const only = functions.length === 1 ? looseText(functions[0]?.['name']) : ''
  const forced = isObject(choice) && isObject(choice['function']) ? choice['function']['name'] : undefined
  const name = forced ?? (choice === 'required' && only !== '' ? only : undefined)
  if (name === undefined && choice !== 'auto') request.lose('toolChoice', choice)
  return {
    functions: functions.map((declared) => ({
      name: declared['name'],
      // The service requires both the description and the parameters.
      description: looseText(declared['description']) || declared['name'],
      parameters: isObject(declared['parameters']) ? declared['parameters'] : { type: 'object', properties: {} },
    })),
    ...(name !== undefined && { tool_choice: { type: 'function', function: { name } } }),
  }
}

/**
 * The service requires user and assistant turns to alternate. A function's result counts as a user turn, and the last
 * turn must be a user turn.
 */
function messagesOut(turns: readonly Turn[]): JsonObject[] {
  const messages = inTurns(oneByOne(turns)).map(messageOut)
  const last = messages.at(-1)
  if (!last || last['role'] === 'assistant')
    throw cannotSay("the last message must be the user's or a tool's: this channel continues no answer", 'messages')
  return messages
}

/** Splits parallel calls, so that each call is followed by its result. A result without a call becomes a user text. */
function oneByOne(turns: readonly Turn[]): Turn[] {
  const answers = new Map<string | undefined, Turn>()
  for (const turn of turns) if (turn.role === 'tool' && !answers.has(turn.call?.id)) answers.set(turn.call?.id, turn)
  const callIds = new Set(turns.flatMap(({ calls = [] }) => calls.map(({ id }) => id)))
  return turns.flatMap((turn): Turn[] => {
    if (turn.role === 'tool') return callIds.has(turn.call?.id ?? '') ? [] : textTurns([turn])
    const { calls = [], ...textTurn } = turn
    if (calls.length === 0) return [textTurn]
    return calls.flatMap((call, index): Turn[] => {
      const answer = answers.get(call.id)
      const callTurn: Turn = { ...(index === 0 ? textTurn : { role: 'assistant', text: '' }), calls: [call] }
      return answer ? [callTurn, answer] : [callTurn]
    })
  })
}

function inTurns(turns: readonly Turn[]): Turn[] {
  const out: Turn[] = []
  const side = ({ role }: Turn) => (role === 'assistant' ? 'assistant' : 'user')
  for (const turn of turns) {
    const last = out.at(-1)
    const isPlain = (each: Turn) => each.role !== 'tool' && !each.calls?.length
    if (turn.text === '' && isPlain(turn)) continue
    if (last && side(last) === side(turn)) {
      if (isPlain(last) && isPlain(turn)) {
        out.splice(-1, 1, { ...last, text: last.text + gap + turn.text })
        continue
      }
      out.push(side(turn) === 'user' ? fillerTurn : { role: 'user', text: fillerTurn.text })
    }
    out.push(turn)
  }
  return out[0]?.role === 'assistant' ? [{ role: 'user', text: fillerTurn.text }, ...out] : out
}

function messageOut({ role, text, thought, calls = [], call }: Turn): JsonObject {
  if (role === 'tool') return { role: 'function', name: call?.name, content: text || '{}' }
  const [firstCall] = calls
  if (!firstCall) return { role, content: text }
  const thoughts = thought ? { thoughts: thought } : {}
  return {
    role,
    content: text,
    function_call: { name: firstCall.name, arguments: firstCall.input || '{}', ...thoughts },
  }
}
