import { isObject } from '../../lib/json.ts'
import type { Namespace, Tool } from '../neutral/conversation.ts'
import { type Fields, looseList, looseText } from '../neutral/fields.ts'

/**
 * Gives every tool in a namespace (OpenAI API reference, "namespace") a flat name, because other services have no
 * namespaces. No two tools of a request get the same name.
 */
export class FlatNames {
  readonly #flat = new Map<string, string>()
  readonly #taken = new Set<string>()

  constructor(body: Fields) {
    const tools = looseList(body.value['tools'])
    for (const tool of tools) if (tool['type'] !== 'namespace') this.#taken.add(looseText(tool['name']))
    for (const space of tools)
      if (space['type'] === 'namespace')
        for (const tool of looseList(space['tools'])) this.#add(looseText(space['name']), looseText(tool['name']))
  }

  #add(space: string, name: string): void {
    let flat = `${space}__${name}`
    while (this.#taken.has(flat)) flat += '_'
    this.#taken.add(flat)
    this.#flat.set(keyOf(space, name), flat)
  }

  /** The flat name of a tool, or its own name if it is in no declared namespace. */
  of(space: string | undefined, name: string): string {
    return (space === undefined ? undefined : this.#flat.get(keyOf(space, name))) ?? name
  }

  /**
   * The flat name of the tool to which an object refers. An undeclared namespace counts as an unread field, so only
   * this dialect writes it back.
   */
  in(owner: Fields): string {
    const name = owner.needText('name')
    const space = looseText(owner.value['namespace'])
    return this.#flat.has(keyOf(space, name)) ? this.of(owner.text('namespace'), name) : name
  }
}

function keyOf(space: string, name: string): string {
  return JSON.stringify([space, name])
}

/** The tools of a namespace, each with its flat name. */
export function spaceIn(space: Fields, names: FlatNames, toolIn: (tool: Fields) => Tool): Tool[] {
  const name = space.needText('name')
  const description = space.text('description')
  const within = { name, ...(description !== undefined && { description }) }
  return (space.each('tools') ?? []).map((each) => {
    const tool = toolIn(each)
    if (tool.type !== 'function' && tool.type !== 'freeform') return tool
    return { ...tool, name: names.of(name, tool.name), within: { ...within, own: tool.name } }
  })
}

/** Maps the flat names of tools to their namespaces. */
export type Namespaces = ReadonlyMap<string, Namespace>

/** A call's own name and its namespace, as fields to spread. */
export function spaceOut(space: Namespace | undefined): { name?: string; namespace?: string } {
  return space ? { name: space.own, namespace: space.name } : {}
}

/** Collects the namespaces of the tools. */
export function namespacesOf(tools: readonly Tool[]): Namespaces {
  const spaces = new Map<string, Namespace>()
  for (const tool of tools) if ('within' in tool && tool.within) spaces.set(tool.name, tool.within)
  return spaces
}

/** Tools in the format of this dialect. Tools of a namespace are put back into it. */
export function inSpaces(tools: readonly (readonly [Tool, Record<string, unknown>])[]): Record<string, unknown>[] {
  const out: Record<string, unknown>[] = []
  for (const [tool, wire] of tools) {
    const within = 'within' in tool ? tool.within : undefined
    if (!within) {
      out.push(wire)
      continue
    }
    const last = out.at(-1)
    const own = { ...wire, name: within.own }
    const goesOn = last?.['type'] === 'namespace' && last['name'] === within.name && Array.isArray(last['tools'])
    if (goesOn && isObject(last)) (last['tools'] as unknown[]).push(own)
    else out.push({ type: 'namespace', name: within.name, description: within.description, tools: [own] })
  }
  return out
}
