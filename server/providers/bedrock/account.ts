import { GatewayError } from '../../errors.ts'
import type { Signing, Target, Upstream } from '../provider.ts'
import { type AwsKeys, signatureHeaders } from './sigv4.ts'

/** The required format of a channel's key. */
export const keyForm = 'AccessKey|SecretKey|region, or APIKey|region'

/** The default base URL. `{region}` is replaced by the channel's region. */
export const regional = 'https://bedrock-runtime.{region}.amazonaws.com'

/** The region to call, with the keys of an AWS account or with a Bedrock API key. */
interface Account {
  readonly region: string
  readonly keys: AwsKeys | { readonly apiKey: string }
}

function piecesOf(key: string): string[] {
  return key.split('|').map((piece) => piece.trim())
}

/** Describes what is wrong with a key's format; undefined if the format is right. */
export function keyFault(key: string): string | undefined {
  const pieces = piecesOf(key)
  const isWhole = pieces.length >= 2 && pieces.length <= 4 && pieces.every((piece) => piece !== '')
  const region = pieces[pieces.length === 2 ? 1 : 2] ?? ''
  return isWhole && /^[a-z]{2,}(?:-[a-z]+)+-\d+$/.test(region) ? undefined : `The key must be ${keyForm}.`
}

/**
 * The account of a channel. It is read from the key or, if the key does not contain it, from the config, where one-api
 * stores it. Throws GatewayError if there is no account.
 */
function accountOf({ key, config }: Upstream): Account {
  const named = (name: string) => (typeof config[name] === 'string' ? config[name] : '')
  const pieces = piecesOf(key)
  if (pieces.length === 2) return { region: pieces[1] ?? '', keys: { apiKey: pieces[0] ?? '' } }
  const [accessKey = '', secretKey = '', region = '', sessionToken = ''] =
    pieces.length > 2 ? pieces : [named('ak'), named('sk'), named('region')]
  if (accessKey === '' || secretKey === '' || region === '')
    throw new GatewayError('do_request_failed', `the channel's key does not have the form ${keyForm}`)
  return { region, keys: { accessKey, secretKey, ...(sessionToken && { sessionToken }) } }
}

/** The region that a channel calls. Throws GatewayError if the channel has no account with a region. */
export function regionOf(upstream: Upstream): string {
  return accountOf(upstream).region
}

/** The URL of the model catalogue. `{region}` is replaced by the channel's region. */
const regionalCatalogue = 'https://bedrock.{region}.amazonaws.com'

/** A signed GET of the model catalogue. Throws GatewayError if the key does not have the required format. */
export function catalogueTarget(upstream: Upstream, path: string, nowMs: number): Target {
  const { region, keys } = accountOf(upstream)
  const base = upstream.baseUrl === regional || upstream.baseUrl === '' ? regionalCatalogue : upstream.baseUrl
  const url = `${base.replaceAll('{region}', region)}${path}`
  if ('apiKey' in keys) return { url, headers: { authorization: `Bearer ${keys.apiKey}` } }
  const request = { method: 'GET', url, body: '', region, service: 'bedrock', nowMs }
  return { url, headers: signatureHeaders(request, keys) }
}

/** A signed POST to a path of the runtime. Throws GatewayError if the key does not have the required format. */
export function signedTarget(upstream: Upstream, path: string, signing: Signing): Target {
  const { region, keys } = accountOf(upstream)
  const url = `${(upstream.baseUrl || regional).replaceAll('{region}', region)}${path}`
  if ('apiKey' in keys) return { url, headers: { authorization: `Bearer ${keys.apiKey}` } }
  const { body, nowMs } = signing
  return { url, headers: signatureHeaders({ method: 'POST', url, body, region, service: 'bedrock', nowMs }, keys) }
}
