import type { Channel } from '../../../contract/api/channel.ts'

/** The form fields for labels and for what a channel adds to its requests. */
export interface CarriedValues {
  tags: string
  remark: string
  test_model: string
  organization: string
  project: string
  /** One header per line, as `name: value`. */
  headers: string
  /** The text of a JSON array. */
  parameters: string
  /** One status per line, as `400: 503`. */
  status_map: string
  proxy: string
  proxy_login: string
}

export type CarryProblem = 'carry.headers.wrong' | 'carry.parameters.wrong' | 'carry.statuses.wrong'

const linesOf = (entries: Readonly<Record<string, string | number>> | undefined) =>
  Object.entries(entries ?? {})
    .map(([name, value]) => `${name}: ${value}`.trimEnd())
    .join('\n')

/** The values of a new channel, or of an existing one. A server that does not support these fields omits them. */
export function carriedValues(channel: Partial<Channel> | undefined): CarriedValues {
  const parameters = channel?.parameters ?? []
  return {
    tags: (channel?.tags ?? []).join(', '),
    remark: channel?.remark ?? '',
    test_model: channel?.test_model ?? '',
    organization: channel?.organization ?? '',
    project: channel?.project ?? '',
    headers: linesOf(channel?.headers),
    parameters:
      parameters.length === 0 ? '' : `[\n${parameters.map((each) => `  ${JSON.stringify(each)}`).join(',\n')}\n]`,
    status_map: linesOf(channel?.status_map),
    proxy: channel?.proxy ?? '',
    proxy_login: '',
  }
}

/** The pairs in lines such as `name: value`; undefined if a line is not a pair. */
function pairsIn(text: string): [string, string][] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const pairs = lines.map((line): [string, string] | undefined => {
    const colon = line.indexOf(':')
    return colon > 0 ? [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] : undefined
  })
  const known = pairs.filter((pair) => pair !== undefined)
  return known.length === pairs.length ? known : undefined
}

function parametersIn(text: string): Channel['parameters'] | undefined {
  if (text.trim() === '') return []
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? (value as Channel['parameters']) : undefined
  } catch {
    return undefined
  }
}

function statusesIn(text: string): Record<string, number> | undefined {
  const pairs = pairsIn(text)
  if (!pairs?.every((pair) => pair.every((status) => /^[45]\d\d$/.test(status)))) return undefined
  return Object.fromEntries(pairs.map(([from, to]) => [from, Number(to)]))
}

/** The fields whose text cannot be parsed. The server validates their content. */
export function carryProblems(
  values: CarriedValues,
): { field: 'headers' | 'parameters' | 'status_map'; atField: CarryProblem }[] {
  return [
    ...(pairsIn(values.headers) ? [] : [{ field: 'headers', atField: 'carry.headers.wrong' } as const]),
    ...(parametersIn(values.parameters) ? [] : [{ field: 'parameters', atField: 'carry.parameters.wrong' } as const]),
    ...(statusesIn(values.status_map) ? [] : [{ field: 'status_map', atField: 'carry.statuses.wrong' } as const]),
  ]
}

/**
 * The fields to send. Only changed fields are sent, so that servers that do not support the fields never receive them.
 */
export function carriedBody(values: CarriedValues, channel?: Channel) {
  const old = carriedValues(channel)
  const isChanged = (name: keyof CarriedValues) => values[name].trim() !== old[name].trim()
  const changed = <T>(name: keyof CarriedValues, value: T) => (isChanged(name) ? { [name]: value } : {})
  return {
    ...changed(
      'tags',
      values.tags
        .split(/[,，]/)
        .map((tag) => tag.trim())
        .filter((tag) => tag !== ''),
    ),
    ...changed('remark', values.remark.trim()),
    ...changed('test_model', values.test_model.trim()),
    ...changed('organization', values.organization.trim()),
    ...changed('project', values.project.trim()),
    ...changed('headers', Object.fromEntries(pairsIn(values.headers) ?? [])),
    ...changed('parameters', parametersIn(values.parameters) ?? []),
    ...changed('status_map', statusesIn(values.status_map) ?? {}),
    ...changed('proxy', values.proxy.trim()),
    ...changed('proxy_login', values.proxy_login),
  }
}
