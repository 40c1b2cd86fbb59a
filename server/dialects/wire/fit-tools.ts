import type { Conversation, Message, Part, Tool, ToolChoice, ToolReference } from '../neutral/conversation.ts'
import type { UpstreamDialect } from '../neutral/dialect.ts'
import type { Choice, ReplyPart, Stop, StreamEvent } from '../neutral/reply.ts'
import { fits, type ToolRules, validName, type WordRule } from '../neutral/tool-rules.ts'
import { ToolIds } from './tool-ids.ts'
import { isNoInput } from './tool-input.ts'

type Call = ReplyPart & { type: 'tool-call' }
type ChoiceEvent = Extract<StreamEvent, { choice: number }>

/** A conversation with call ids and tool names that a service accepts. */
export interface FitConversation {
  readonly conversation: Conversation
  /** Maps the replacement names to the caller's names. */
  readonly ownNames: ReadonlyMap<string, string>
}

/** Replaces call ids and tool names that the service does not accept. With `keepsNames`, no tool names are replaced. */
export function fitTools(conversation: Conversation, rules: ToolRules, keepsNames = false): FitConversation {
  const ids = new ToolIds(rules.ids, idsOf(conversation.messages), rules.uniqueIds)
  const names = keepsNames ? new Map<string, string>() : namesFor(conversation, rules.names)
  const messages = conversation.messages.map((message) => fitMessage(message, ids, names))
  const { toolChoice } = conversation
  return {
    conversation: {
      ...conversation,
      messages,
      ...(names.size > 0 && { tools: conversation.tools.map((tool) => fitTool(tool, names)) }),
      ...(names.size > 0 && toolChoice && { toolChoice: fitChoice(toolChoice, names) }),
    },
    ownNames: new Map([...names].map(([own, fit]) => [fit, own])),
  }
}

function* idsOf(messages: readonly Message[]): Generator<string> {
  for (const { parts } of messages)
    for (const part of parts) {
      if (part.type === 'tool-call') yield part.id
      if (part.type === 'tool-result') yield part.callId
    }
}

/** Maps the invalid tool names to their replacements. */
function namesFor(conversation: Conversation, rule: WordRule): ReadonlyMap<string, string> {
  const all = new Set<string>()
  const taken = new Set<string>()
  for (const tool of conversation.tools) {
    if ('name' in tool) all.add(tool.name)
    // A replacement must differ from the names of the tools that the service itself runs.
    else taken.add(tool.type === 'native' ? String(tool.value['name'] ?? tool.value['type']) : 'web_search')
  }
  for (const { parts } of conversation.messages)
    for (const part of parts) if (part.type === 'tool-call') all.add(part.name)
  const { toolChoice } = conversation
  for (const tool of chosenIn(toolChoice)) if (tool.type === 'named') all.add(tool.name)
  for (const name of all) if (fits(name, rule)) taken.add(name)
  const names = new Map<string, string>()
  for (const name of all) {
    if (fits(name, rule)) continue
    for (let attempt = 0; !names.has(name); attempt++) {
      const fit = validName(name, rule, attempt)
      if (taken.has(fit)) continue
      taken.add(fit)
      names.set(name, fit)
    }
  }
  return names
}

function fitMessage(message: Message, ids: ToolIds, names: ReadonlyMap<string, string>): Message {
  if (!message.parts.some(({ type }) => type === 'tool-call' || type === 'tool-result')) return message
  const parts = message.parts.map((part): Part => {
    if (part.type === 'tool-call') {
      const input = !part.freeform && isNoInput(part.input) ? '{}' : part.input
      return { ...part, id: ids.call(part.id), name: names.get(part.name) ?? part.name, input }
    }
    return part.type === 'tool-result' ? { ...part, callId: ids.result(part.callId) } : part
  })
  return { ...message, parts }
}

function fitTool(tool: Tool, names: ReadonlyMap<string, string>): Tool {
  const fit = 'name' in tool ? names.get(tool.name) : undefined
  return fit === undefined || !('name' in tool) ? tool : { ...tool, name: fit }
}

function chosenIn(choice: ToolChoice | undefined): readonly ToolReference[] {
  if (choice?.mode === 'tool') return [choice.tool]
  return choice?.mode === 'allowed' ? choice.tools : []
}

function fitChoice(choice: ToolChoice, names: ReadonlyMap<string, string>): ToolChoice {
  const fit = (tool: ToolReference): ToolReference =>
    tool.type === 'named' ? { ...tool, name: names.get(tool.name) ?? tool.name } : tool
  if (choice.mode === 'tool') return { ...choice, tool: fit(choice.tool) }
  return choice.mode === 'allowed' ? { ...choice, tools: choice.tools.map(fit) } : choice
}

/**
 * Wraps the dialect of an upstream for decoding one answer. Calls in the answer get the tool names that the caller
 * uses, and ids that are valid in the caller's dialect.
 */
export function answeringFit(
  dialect: UpstreamDialect,
  ownNames: ReadonlyMap<string, string>,
  rules: ToolRules,
): UpstreamDialect {
  return {
    ...dialect,
    decodeReply(wire, idSeed) {
      const reply = dialect.decodeReply(wire, idSeed)
      const choices = reply.choices.map((choice, at) =>
        fitReply(choice, new CallReader(ownNames, rules, `${idSeed}_${at}`)),
      )
      return { ...reply, choices }
    },
    streamDecoder(idSeed) {
      const decoder = dialect.streamDecoder(idSeed)
      const readers = new Map<number, CallReader>()
      const fit = (event: StreamEvent): StreamEvent[] => {
        if (!('choice' in event)) return [event]
        const reader = readers.get(event.choice) ?? new CallReader(ownNames, rules, `${idSeed}_${event.choice}`)
        readers.set(event.choice, reader)
        return reader.follow(event)
      }
      return {
        push: (data) => decoder.push(data).flatMap(fit),
        finish: () => decoder.finish().flatMap(fit),
      }
    },
  }
}

function fitReply({ parts, stop }: Choice, reader: CallReader): Choice {
  const read = parts.map((part) => (part.type === 'tool-call' ? reader.read(part) : part))
  return { parts: read, stop: reader.stop(stop) }
}

/** Converts the calls in one choice of an answer. */
class CallReader {
  readonly #ownNames: ReadonlyMap<string, string>
  readonly #ids: ToolIds
  readonly #idSeed: string
  #calls = 0
  /** Maps a part's index to the input received for it, while the input may turn out to be empty. */
  readonly #held = new Map<number, string>()

  constructor(ownNames: ReadonlyMap<string, string>, { ids }: ToolRules, idSeed: string) {
    this.#ownNames = ownNames
    // Callers may accept only certain characters in an id, but they accept any length. The length is checked when the
    // caller sends the id back.
    this.#ids = new ToolIds({ ...ids, longest: Number.MAX_SAFE_INTEGER }, [], true)
    this.#idSeed = idSeed
  }

  /** Converts a complete call, or the first piece of a streamed call. */
  read(call: Call): Call {
    const id = call.id || `call_${this.#idSeed}_${this.#calls}`
    this.#calls++
    const input = !call.freeform && isNoInput(call.input) ? '' : call.input
    return { ...call, id: this.#ids.call(id), name: this.#ownNames.get(call.name) ?? call.name, input }
  }

  /**
   * Replaces the stop reason `tool-calls` with `stop` if the answer contains no calls, because the caller then has no
   * tool to run.
   */
  stop(stop: Stop): Stop {
    return stop.reason === 'tool-calls' && this.#calls === 0 ? { reason: 'stop' } : stop
  }

  /** Converts an event of a stream. Returns no event while the input of a call may turn out to be empty. */
  follow(event: ChoiceEvent): StreamEvent[] {
    switch (event.type) {
      case 'part':
        if (event.part.type !== 'tool-call') return [event]
        if (!event.part.freeform && isNoInput(event.part.input)) this.#held.set(event.index, event.part.input)
        return [{ ...event, part: this.read(event.part) }]
      case 'delta':
        return this.#more(event)
      case 'part-end':
        this.#held.delete(event.index)
        return [event]
      case 'stop':
        return [{ ...event, stop: this.stop(event.stop) }]
      default:
        return [event]
    }
  }

  #more(event: ChoiceEvent & { type: 'delta' }): StreamEvent[] {
    const held = this.#held.get(event.index)
    if (held === undefined) return [event]
    const text = held + event.text
    // The received input is white space or a prefix of `null`, so the call may turn out to have no input.
    if (text.length < 64 && 'null'.startsWith(text.trim())) {
      this.#held.set(event.index, text)
      return []
    }
    this.#held.delete(event.index)
    return [{ ...event, text }]
  }
}
