import type { Page, Route } from 'playwright-core'

/**
 * The calls in section 7 of the specification, with their query parameters. `{id}` is a number; `-` marks a call whose
 * response has no data.
 */
const calls = `
GET /api/status
GET /api/option/
PUT /api/option/ -
GET /api/user/ p
GET /api/user/search keyword
POST /api/user/manage
GET /api/user/{id}
GET /api/user/self
PUT /api/user/ -
PUT /api/user/self -
POST /api/user/ -
POST /api/user/register turnstile -
POST /api/user/login
GET /api/user/logout
DELETE /api/user/self -
GET /api/user/token
GET /api/user/aff
POST /api/user/topup
POST /api/user/reset
GET /api/reset_password email turnstile
GET /api/verification email turnstile
GET /api/oauth/wechat code
GET /api/oauth/wechat/bind code -
GET /api/oauth/email/bind email code -
GET /api/oauth/github code state
GET /api/group/
GET /api/channel/ p
GET /api/channel/search keyword
GET /api/channel/{id}
POST /api/channel/ -
PUT /api/channel/ -
DELETE /api/channel/{id}/ -
GET /api/channel/test/{id}/
GET /api/channel/test
GET /api/channel/update_balance/{id}/
GET /api/channel/update_balance
GET /api/channel/models
GET /api/token/ p
GET /api/token/search keyword
GET /api/token/{id}
POST /api/token/ -
PUT /api/token/ status_only -
DELETE /api/token/{id}/ -
GET /api/redemption/ p
GET /api/redemption/search keyword
GET /api/redemption/{id}
POST /api/redemption/
PUT /api/redemption/ status_only -
DELETE /api/redemption/{id}/ -
GET /api/log/ p type username token_name model_name start_timestamp end_timestamp
GET /api/log/self/ p type token_name model_name start_timestamp end_timestamp
GET /api/log/stat type username token_name model_name start_timestamp end_timestamp
GET /api/log/self/stat type token_name model_name start_timestamp end_timestamp
`

const known = calls
  .trim()
  .split('\n')
  .map((line) => {
    const [method = '', path = '', ...query] = line.split(' ')
    const pattern = path.replace('{id}', '\\d+').replace(/\/$/, '')
    return { method, path: new RegExp(`^${pattern}/?$`), query, silent: query.includes('-') }
  })

/** The fields that section 3 of the specification names for each object. */
const fields: Record<string, string> = {
  status: `system_name logo footer_html quota_per_unit display_in_currency chat_link top_up_link server_address version
    turnstile_check turnstile_site_key wechat_login wechat_qrcode github_oauth github_client_id email_verification`,
  user: `id username display_name github_id wechat_id email quota used_quota request_count group role status`,
  token: `id name key status remain_quota unlimited_quota used_quota created_time expired_time`,
  channel: `id name type base_url other model_mapping models group status response_time test_time balance
    balance_updated_time`,
  redemption: `id name key status quota created_time redeemed_time count`,
  log: `id created_at username token_name type model_name prompt_tokens completion_tokens quota content`,
}

type Row = Record<string, unknown>

/** The data of a response, reduced to the fields named in the specification. */
function specified(path: string, data: unknown): unknown {
  const kind = /^\/api\/(\w+)(?:\/(?:\d+|self|search|login)?)?\/?$/.exec(path)?.[1] ?? ''
  const names = fields[kind]?.split(/\s+/)
  if (!names || typeof data !== 'object' || data === null) return data
  const only = (row: Row) => Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)))
  return Array.isArray(data)
    ? data.map((row: unknown) => (typeof row === 'object' ? only(row as Row) : row))
    : only(data as Row)
}

/**
 * Makes the server behave like one that has only the endpoints of the specification: other requests get a 404, other
 * query parameters are ignored, lists have no total, and responses have no other fields.
 */
export async function onlySpecifiedCalls(page: Page): Promise<void> {
  await page.route('**/api/**', async (route: Route) => {
    const request = route.request()
    const url = new URL(request.url())
    const call = known.find(({ method, path }) => method === request.method() && path.test(url.pathname))
    if (!call) {
      return route.fulfill({ status: 404, json: { error: { message: 'Invalid URL', type: 'invalid_request_error' } } })
    }
    for (const name of [...url.searchParams.keys()]) if (!call.query.includes(name)) url.searchParams.delete(name)
    const response = await route.fetch({ url: url.href })
    const { 'x-total-count': _, ...headers } = response.headers()
    const { data, ...answer } = (await response.json()) as { data?: unknown }
    return route.fulfill({
      response,
      headers,
      json: call.silent || data === undefined ? answer : { ...answer, data: specified(url.pathname, data) },
    })
  })
}
