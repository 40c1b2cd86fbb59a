/** The calls that one-api clients make, with method, path and query exactly as those clients send them. */
export const rows = [
  'GET /api/status',
  'GET /api/option/',
  'PUT /api/option/',
  'GET /api/user/?p={p}',
  'GET /api/user/search?keyword={keyword}',
  'POST /api/user/manage',
  'GET /api/user/{id}',
  'GET /api/user/self',
  'PUT /api/user/',
  'PUT /api/user/self',
  'POST /api/user/',
  'POST /api/user/register?turnstile={turnstile}',
  'POST /api/user/login',
  'GET /api/user/logout',
  'DELETE /api/user/self',
  'GET /api/user/token',
  'GET /api/user/aff',
  'POST /api/user/topup',
  'POST /api/user/reset',
  'GET /api/reset_password?email={email}&turnstile={turnstile}',
  'GET /api/verification?email={email}&turnstile={turnstile}',
  'GET /api/oauth/wechat?code={code}',
  'GET /api/oauth/wechat/bind?code={code}',
  'GET /api/oauth/email/bind?email={email}&code={code}',
  'GET /api/oauth/github?code={code}',
  'GET /api/group/',
  'GET /api/channel/?p={p}',
  'GET /api/channel/search?keyword={keyword}',
  'GET /api/channel/{id}',
  'POST /api/channel/',
  'PUT /api/channel/',
  'DELETE /api/channel/{id}/',
  'GET /api/channel/test/{id}/',
  'GET /api/channel/test',
  'GET /api/channel/update_balance/{id}/',
  'GET /api/channel/update_balance',
  'GET /api/channel/models',
  'GET /api/token/?p={p}',
  'GET /api/token/search?keyword={keyword}',
  'GET /api/token/{id}',
  'POST /api/token/',
  'PUT /api/token/',
  'PUT /api/token/?status_only=true',
  'DELETE /api/token/{id}/',
  'GET /api/redemption/?p={p}',
  'GET /api/redemption/search?keyword={keyword}',
  'GET /api/redemption/{id}',
  'POST /api/redemption/',
  'PUT /api/redemption/',
  'PUT /api/redemption/?status_only=true',
  'DELETE /api/redemption/{id}/',
  'GET /api/log/?p={p}&type={type}&username={username}&token_name={token_name}&model_name={model_name}&start_timestamp={start}&end_timestamp={end}',
  'GET /api/log/self/?p={p}&type={type}&token_name={token_name}&model_name={model_name}&start_timestamp={start}&end_timestamp={end}',
  'GET /api/log/stat?type={type}&username={username}&token_name={token_name}&model_name={model_name}&start_timestamp={start}&end_timestamp={end}',
  'GET /api/log/self/stat?type={type}&token_name={token_name}&model_name={model_name}&start_timestamp={start}&end_timestamp={end}',
  // Requests of the console's first pages, and one call that only scripts make.
  'GET /api/notice',
  'GET /api/about',
  'GET /api/home_page_content',
  'GET /api/oauth/state',
  'DELETE /api/user/{id}',
] as const

export type Row = (typeof rows)[number]

/** The row's path with a trailing slash added, or with its trailing slash removed. */
export function otherForm(path: string): string {
  const [pathname = '', query] = path.split('?')
  const other = pathname.endsWith('/') ? pathname.slice(0, -1) : `${pathname}/`
  return query === undefined ? other : `${other}?${query}`
}

/** The lowest role that may make the call, as documented. Lower roles must be refused. */
export function leastRole(row: Row): 'public' | 'user' | 'admin' {
  const [method = '', path = ''] = row.split(' ')
  const pathname = path.split('?')[0] ?? ''
  if (/^\/api\/(status|notice|about|home_page_content|verification|reset_password)$/.test(pathname)) return 'public'
  if (/^\/api\/user\/(register|login|logout|reset)$/.test(pathname)) return 'public'
  if (/^\/api\/oauth\/(wechat|github|state)$/.test(pathname)) return 'public'
  if (/^\/api\/(token|oauth|log\/self)\//.test(pathname)) return 'user'
  if (/^\/api\/user\/(self|token|aff|topup)$/.test(pathname)) return 'user'
  return method === '' ? 'public' : 'admin'
}
