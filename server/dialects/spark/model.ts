/** The URL path of a Spark model, and its name in requests. */
export interface SparkModel {
  /** The path of the model's URL. */
  readonly path: string
  readonly domain: string
}

/** The versions, by the service's own names for them (Spark Web API docs, "Request address"). */
const versions: Readonly<Record<string, SparkModel>> = {
  'v1.1': { path: '/v1.1/chat', domain: 'lite' },
  'v2.1': { path: '/v2.1/chat', domain: 'generalv2' },
  'v3.1': { path: '/v3.1/chat', domain: 'generalv3' },
  'v3.1-128k': { path: '/chat/pro-128k', domain: 'pro-128k' },
  'v3.5': { path: '/v3.5/chat', domain: 'generalv3.5' },
  'v3.5-32k': { path: '/chat/max-32k', domain: 'max-32k' },
  'v4.0': { path: '/v4.0/chat', domain: '4.0Ultra' },
  x1: { path: '/v1/x1', domain: 'x1' },
}

/** Maps model names, in lower case and without the maker's prefix, to versions. */
const names: Readonly<Record<string, string>> = {
  lite: 'v1.1',
  general: 'v1.1',
  generalv2: 'v2.1',
  pro: 'v3.1',
  generalv3: 'v3.1',
  'pro-128k': 'v3.1-128k',
  max: 'v3.5',
  'generalv3.5': 'v3.5',
  'max-32k': 'v3.5-32k',
  '4.0-ultra': 'v4.0',
  '4.0ultra': 'v4.0',
  x1: 'x1',
}

/** The version to use if neither the model's name nor the channel names one. */
export const defaultVersion = 'v2.1'

/** Finds the model by its name or, if the name contains no version, by the channel's version. */
export function sparkModel(name: string, version: string): SparkModel {
  const short = name.toLowerCase().replace(/^spark(?:desk)?-?/, '')
  const named = names[short] ?? (short.startsWith('v') ? short : undefined)
  const chosen = (named ?? version.trim().toLowerCase()) || defaultVersion
  return versions[chosen] ?? versions[names[chosen] ?? ''] ?? { path: `/${chosen}/chat`, domain: `general${chosen}` }
}

/**
 * True for models that accept a system prompt (Spark Web API docs). For other models it becomes the user's first
 * message.
 */
export function takesSystem({ domain }: SparkModel): boolean {
  return ['generalv3.5', 'max-32k', '4.0Ultra', 'x1'].includes(domain)
}

/** True for models that can call functions. */
export function takesFunctions({ domain }: SparkModel): boolean {
  return ['generalv3', 'pro-128k', 'generalv3.5', 'max-32k', '4.0Ultra'].includes(domain)
}
