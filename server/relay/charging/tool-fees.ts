import type { PriceBook } from '../../billing/price-book.ts'
import { isPaidByPrompt } from '../../billing/tool-prices.ts'
import type { ToolCounts } from '../../dialects/metering/tool-counts.ts'
import { type HostedTool, hostedTools, searchesAlways } from '../../dialects/wire/hosted-tools.ts'
import { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { fieldsOf } from '../body/json-body.ts'
import type { AnyCall } from '../call/call.ts'

/**
 * The number of tool calls for which quota is held if the request sets no limit. The model decides how many calls it
 * makes.
 */
const usualCalls: Readonly<Record<string, number>> = {
  web_search: 5,
  web_search_preview: 5,
  x_search: 5,
  file_search: 5,
}

const noFees = 0n

/** Fees for the tools that the upstream runs during one call on one channel. */
export interface ToolFees {
  /** The amount to hold for the expected tool calls, in picoquota. */
  readonly held: bigint
  readonly tools: readonly HostedTool[]
  /** The kinds of tools that the request enables. */
  readonly kinds: readonly string[]
  /** True if the model searches in every call, even if its response does not mention a search. */
  readonly searchesAlways: boolean
  /** The fees for the calls that were made, in picoquota, and the text for the log. */
  charge(counts: ToolCounts): { fees: bigint; note: string }
}

const toolsByBody = new WeakMap<JsonObject, readonly HostedTool[]>()

/** The hosted tools of a body. They are determined only once, however many channels are tried. */
function toolsOf(body: JsonObject, model: string): readonly HostedTool[] {
  const known = toolsByBody.get(body)
  // Models that search in every call are recognised by their names, and each channel can map the name to a different
  // one, so the result is not reused for them.
  if (known && !searchesAlways(model)) return known
  const tools = hostedTools(body, model)
  if (!searchesAlways(model)) toolsByBody.set(body, tools)
  return tools
}

/** The tool fees of a call. `model` is the upstream's name for the model. Undefined if no tool is enabled. */
export function toolFees(call: AnyCall, prices: PriceBook, model: string, channelType: number): ToolFees | undefined {
  if (call.mode !== 'chat' || call.state.body.kind !== 'json') return undefined
  const tools = toolsOf(fieldsOf(call.state.body), model)
  return tools.length === 0 ? undefined : feesFor(tools, prices, model, channelType)
}

/** The fees for a list of tools. */
export function feesFor(tools: readonly HostedTool[], prices: PriceBook, model: string, channelType: number): ToolFees {
  const priceOf = (kind: string, size: string | undefined) =>
    prices.toolPrice({ kind, size, model, channelType }) ?? noFees
  const byPrompt = (kind: string) => isPaidByPrompt({ kind, model, channelType })
  const callsOf = ({ kind, most }: HostedTool) => (byPrompt(kind) ? 1 : (most ?? usualCalls[kind] ?? 1))
  // A tool that is listed twice counts once.
  const highest = new Map<string, bigint>()
  for (const tool of tools) {
    const price = priceOf(tool.kind, tool.size) * BigInt(callsOf(tool))
    if (price >= (highest.get(tool.kind) ?? noFees)) highest.set(tool.kind, price)
  }
  return {
    held: [...highest.values()].reduce((sum, price) => sum + price, noFees),
    tools,
    kinds: tools.map(({ kind }) => kind),
    searchesAlways: searchesAlways(model),
    charge(counts) {
      let fees = noFees
      const notes: string[] = []
      for (const [name, counted] of Object.entries(counts)) {
        const [reportedKind = '', reportedSize] = name.split(':')
        // The response uses the same name for a search tool and for its preview version.
        const tool =
          tools.find(({ kind }) => kind === reportedKind) ?? tools.find(({ kind }) => kind.startsWith(reportedKind))
        const kind = tool?.kind ?? reportedKind
        const calls = byPrompt(kind) ? Math.min(counted, 1) : counted
        fees += priceOf(kind, reportedSize ?? tool?.size) * BigInt(calls)
        notes.push(`${name} × ${calls}`)
      }
      return { fees, note: notes.join(', ') }
    },
  }
}

/** Refuses to send a tool that has no price. Throws GatewayError (tool_not_priced). */
export function refuseUnpricedTools(body: JsonObject, prices: PriceBook, model: string, channelType: number): void {
  for (const { kind, size } of toolsOf(body, model)) {
    if (prices.toolPrice({ kind, size, model, channelType }) !== undefined) continue
    throw new GatewayError(
      'tool_not_priced',
      `the tool ${kind} has no price: omit it, or ask the administrator to set one`,
      { param: 'tools' },
    )
  }
}
