import { createHash, createSign } from 'node:crypto'
import { GatewayError } from '../../errors.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import type { AccessToken, FetchJson, Signing, Upstream } from '../provider.ts'

const scope = 'https://www.googleapis.com/auth/cloud-platform'
const defaultTokenUri = 'https://oauth2.googleapis.com/token'
const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/**
 * The longest lifetime that Google allows for the JSON Web Token that is exchanged for an upstream token, in seconds.
 */
const lifeSeconds = 3600

/** The service account that a channel uses, with its project and region. */
export interface Account {
  readonly region: string
  readonly project: string
  readonly email: string
  readonly privateKey: string
  readonly privateKeyId: string
  readonly tokenUri: string
}

/** The required format of a channel's key. */
export const keyForm = 'region|project_id|service-account JSON (on one line)'

/**
 * The region, project and JSON of a key. A key contains either all three or only the JSON. In the latter case, region
 * and project are in the channel's config.
 */
function piecesOf(key: string): { region: string; project: string; json: string } {
  const text = key.trim()
  if (text.startsWith('{')) return { region: '', project: '', json: text }
  const [region = '', project = '', ...rest] = text.split('|')
  return { region: region.trim(), project: project.trim(), json: rest.join('|').trim() }
}

/** Describes what is wrong with a key's format; undefined if the format is right. */
export function keyFault(key: string): string | undefined {
  const json = tryParse(piecesOf(key).json)
  const isWhole = isObject(json) && typeof json['client_email'] === 'string' && typeof json['private_key'] === 'string'
  return isWhole ? undefined : `The key must be ${keyForm}.`
}

/**
 * The account of a channel. It is read from the key or, if the key does not contain it, from the config, where one-api
 * stores it. Throws GatewayError if there is no account.
 */
export function accountOf({ key, config }: Upstream): Account {
  const pieces = piecesOf(key)
  const named = (name: string) => (typeof config[name] === 'string' ? config[name] : '')
  const json = tryParse(pieces.json.startsWith('{') ? pieces.json : named('vertex_ai_adc'))
  const field = (name: string) => (isObject(json) && typeof json[name] === 'string' ? json[name] : '')
  const account = {
    region: pieces.region || named('region') || 'global',
    project: pieces.project || named('vertex_ai_project_id') || field('project_id'),
    email: field('client_email'),
    privateKey: field('private_key'),
    privateKeyId: field('private_key_id'),
    tokenUri: field('token_uri') || defaultTokenUri,
  }
  if (account.email === '' || account.privateKey === '' || account.project === '')
    throw new GatewayError('do_request_failed', `the channel's key does not have the form ${keyForm}`)
  // The region becomes part of a host name. It is checked so that it cannot lead to another host.
  if (!/^[\w-]+$/.test(account.region)) throw new GatewayError('do_request_failed', "the channel's region is not valid")
  return account
}

/** The account's upstream token, which `tokenUri` issues in exchange for a JSON Web Token signed by the account. */
export function accessToken(account: Account, tokenUri: string, signing: Signing): Promise<string> {
  // The name under which the token is stored contains a hash of the key, so that a new key of the same account gets a
  // new token.
  const mark = createHash('sha256').update(account.privateKey).digest('base64url')
  const name = `vertex ${tokenUri} ${account.email} ${mark}`
  return signing.tokens.get(name, () => exchange(account, tokenUri, signing.nowMs, signing.fetchJson))
}

async function exchange(account: Account, tokenUri: string, nowMs: number, fetchJson: FetchJson): Promise<AccessToken> {
  const body = new URLSearchParams({ grant_type: grant, assertion: assertionOf(account, nowMs) }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await fetchJson(tokenUri, headers, { body }).catch((error: unknown) => {
    throw error instanceof GatewayError ? refused(error) : error
  })
  const { access_token: value, expires_in: seconds } = answer
  if (typeof value !== 'string' || value === '')
    throw new GatewayError('bad_response_body', "the upstream's token endpoint returned no access token")
  return { value, expiresAtMs: nowMs + (typeof seconds === 'number' ? seconds : lifeSeconds) * 1000 }
}

/**
 * Google responds with status 400 both if the key is unknown and if the time in the JSON Web Token is wrong, so the
 * message names both causes.
 */
function refused(error: GatewayError): GatewayError {
  if (!/status code: 40[013]/.test(error.message)) return error
  const message = `the token endpoint of the upstream refused the service account (${error.message}): its key may be gone, or the clock of this gateway may be wrong`
  return new GatewayError(error.code, message, { cause: error })
}

/** A JSON Web Token signed by the account (Google identity, "Using OAuth 2.0 for server to server applications"). */
function assertionOf(account: Account, nowMs: number): string {
  const iat = Math.floor(nowMs / 1000)
  const header = { alg: 'RS256', typ: 'JWT', ...(account.privateKeyId && { kid: account.privateKeyId }) }
  const claims = { iss: account.email, scope, aud: account.tokenUri, iat, exp: iat + lifeSeconds }
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part(header)}.${part(claims)}`
  try {
    return `${text}.${createSign('RSA-SHA256').update(text).sign(account.privateKey, 'base64url')}`
  } catch {
    // The library's error may quote the key.
    throw new GatewayError('do_request_failed', 'the private key of the service account cannot be parsed')
  }
}
