import { isObject } from '../../lib/json.ts'
import type { Namespace, Tool } from '../neutral/conversation.ts'
import { type Fields, looseList, looseText } from '../neutral/fields.ts'

/**
 * Names of tools that stand in namespaces (OpenAI API reference, "namespace"), as one name each: other services know no
 * namespaces. No two tools of a request get the same.
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

  /** The one name of a tool; its own where it stands in no namespace that is declared. */
  of(space: string | undefined, name: string): string {
    return (space === undefined ? undefined : this.#flat.get(keyOf(space, name))) ?? name
  }

  /** The one name of the tool that an object speaks of. A namespace that is not declared is left to its own dialect. */
  in(owner: Fields): string {
    const name = owner.needText('name')
    const space = looseText(owner.value['namespace'])
    return this.#flat.has(keyOf(space, name)) ? this.of(owner.text('namespace'), name) : name
  }
}

function keyOf(space: string, name: string): string {
  return JSON.stringify([space, name])
}

/** The tools of a namespace, each with its one name. */
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

/** The namespaces of tools by the tools' one name. */
export type Namespaces = ReadonlyMap<string, Namespace>

/** A call's own name and its namespace, as members to spread. */
export function spaceOut(space: Namespace | undefined): { name?: string; namespace?: string } {
  return space ? { name: space.own, namespace: space.name } : {}
}

/** Finds them. */
export function namespacesOf(tools: readonly Tool[]): Namespaces {
  const found = new Map<string, Namespace>()
  for (const tool of tools) if ('within' in tool && tool.within) found.set(tool.name, tool.within)
  return found
}

/** Tools for this dialect, those of a namespace within it again. */
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
