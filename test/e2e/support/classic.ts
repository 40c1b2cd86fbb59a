import type { Page, Route } from 'playwright-core'

/** The calls of the specification's section 7; `{id}` stands for a number. */
const calls = `
GET /api/status
GET /api/option/
PUT /api/option/
GET /api/user/ p
GET /api/user/search keyword
POST /api/user/manage
GET /api/user/{id}
GET /api/user/self
PUT /api/user/
PUT /api/user/self
POST /api/user/
POST /api/user/register turnstile
POST /api/user/login
GET /api/user/logout
DELETE /api/user/self
GET /api/user/token
GET /api/user/aff
POST /api/user/topup
POST /api/user/reset
GET /api/reset_password email turnstile
GET /api/verification email turnstile
GET /api/oauth/wechat code
GET /api/oauth/wechat/bind code
GET /api/oauth/email/bind email code
GET /api/oauth/github code state
GET /api/group/
GET /api/channel/ p
GET /api/channel/search keyword
GET /api/channel/{id}
POST /api/channel/
PUT /api/channel/
DELETE /api/channel/{id}/
GET /api/channel/test/{id}/
GET /api/channel/test
GET /api/channel/update_balance/{id}/
GET /api/channel/update_balance
GET /api/channel/models
GET /api/token/ p
GET /api/token/search keyword
GET /api/token/{id}
POST /api/token/
PUT /api/token/ status_only
DELETE /api/token/{id}/
GET /api/redemption/ p
GET /api/redemption/search keyword
GET /api/redemption/{id}
POST /api/redemption/
PUT /api/redemption/ status_only
DELETE /api/redemption/{id}/
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
    return { method, path: new RegExp(`^${pattern}/?$`), query }
  })

/** Fields of the status document that the specification names. */
const statusFields =
  `system_name logo footer_html quota_per_unit display_in_currency chat_link top_up_link server_address version
  turnstile_check turnstile_site_key wechat_login wechat_qrcode github_oauth github_client_id email_verification`.split(
    /\s+/,
  )

/**
 * Makes the server one that has the calls of the specification alone: any other is answered with 404, further query
 * parameters are not heard, lists are not counted, the status document has no further field. Returns what was asked
 * for beyond it.
 */
export async function onlySpecifiedCalls(page: Page): Promise<string[]> {
  const refused: string[] = []
  await page.route('**/api/**', async (route: Route) => {
    const request = route.request()
    const url = new URL(request.url())
    const call = known.find(({ method, path }) => method === request.method() && path.test(url.pathname))
    if (!call) {
      refused.push(`${request.method()} ${url.pathname}`)
      return route.fulfill({ status: 404, json: { error: { message: 'Invalid URL', type: 'invalid_request_error' } } })
    }
    for (const name of [...url.searchParams.keys()]) if (!call.query.includes(name)) url.searchParams.delete(name)
    const response = await route.fetch({ url: url.href })
    const { 'x-total-count': _, ...headers } = response.headers()
    if (url.pathname !== '/api/status') return route.fulfill({ response, headers })
    const answer = (await response.json()) as { data: Record<string, unknown> }
    const data = Object.fromEntries(Object.entries(answer.data).filter(([name]) => statusFields.includes(name)))
    return route.fulfill({ response, headers, json: { ...answer, data } })
  })
  return refused
}
