// The expected outcome of each route for each kind of user, as tables with a row for every route of the server.

/**
 * The outcomes of a request to the management API, by the word in the table. `a|b` means outcome `a` with the session
 * cookie and outcome `b` with the access token.
 */
export const outcomes: Readonly<Record<string, { status: number; message?: RegExp }>> = {
  ok: { status: 200 },
  401: { status: 401, message: /not logged in/i },
  no: { status: 200, message: /permission to do this/ },
  ban: { status: 200, message: /has been banned/ },
  bad: { status: 200, message: /access token is not valid/ },
  fail: { status: 200, message: /username or password is wrong/ },
  last: { status: 200, message: /super admin cannot (delete their own account|be banned|be deleted)/ },
  above: { status: 200, message: /same role as yours or a higher one/ },
  none: { status: 200, message: /does not exist|not found/ },
  root: { status: 200, message: /only (a )?super admin/i },
}

/**
 * What each kind of user gets from each endpoint of the management API. Banned users still have an old session and
 * access token; deleted users have none that the server accepts.
 */
const managementRows = `
                                          none  user  admin root  banned deleted
GET    /api/status                        ok    ok    ok    ok    ok     ok
GET    /api/notice                        ok    ok    ok    ok    ok     ok
GET    /api/about                         ok    ok    ok    ok    ok     ok
GET    /api/home_page_content             ok    ok    ok    ok    ok     ok
GET    /api/status-page                   ok    ok    ok    ok    ok     ok
GET    /api/model/public                  ok    ok    ok    ok    ok     ok
GET    /api/openapi.json                  ok    ok    ok    ok    ok     ok
GET    /api/docs                          ok    ok    ok    ok    ok     ok

POST   /api/user/login                    ok    ok    ok    ok    fail   fail
GET    /api/user/logout                   ok    ok    ok    ok    ok     ok
POST   /api/user/register                 ok    ok    ok    ok    ok     ok
GET    /api/verification                  ok    ok    ok    ok    ok     ok
GET    /api/reset_password                ok    ok    ok    ok    ok     ok
POST   /api/user/reset                    ok    ok    ok    ok    ok     ok

GET    /api/oauth/state                   ok    ok    ok    ok    ok     ok
GET    /api/oauth/github/start            ok    ok    ok    ok    ok     ok
GET    /api/oauth/github                  ok    ok    ok    ok    ban    ok|bad
GET    /api/oauth/wechat                  ok    ok    ok    ok    ok     ok
GET    /api/oauth/wechat/bind             401   ok    ok    ok    ban    401|bad
GET    /api/oauth/email/bind              401   ok    ok    ok    ban    401|bad

GET    /api/user/self                     401   ok    ok    ok    ban    401|bad
PUT    /api/user/self                     401   ok    ok    ok    ban    401|bad
DELETE /api/user/self                     401   ok    ok    last  ban    401|bad
GET    /api/user/token                    401   ok    ok    ok    ban    401|bad
GET    /api/user/aff                      401   ok    ok    ok    ban    401|bad
GET    /api/user/available_models         401   ok    ok    ok    ban    401|bad
GET    /api/user/self/groups              401   ok    ok    ok    ban    401|bad
GET    /api/user/                         401   no    ok    ok    ban    401|bad
GET    /api/user/search                   401   no    ok    ok    ban    401|bad
GET    /api/user/{id}                     401   no    ok    ok    ban    401|bad
POST   /api/user/                         401   no    ok    ok    ban    401|bad
PUT    /api/user/                         401   no    ok    ok    ban    401|bad
POST   /api/user/manage                   401   no    ok    ok    ban    401|bad
DELETE /api/user/{id}                     401   no    ok    ok    ban    401|bad
GET    /api/user/{id}/tokens              401   no    ok    ok    ban    401|bad
PUT    /api/user/{id}/tokens/{token}      401   no    ok    ok    ban    401|bad
GET    /api/user/{id}/sessions            401   no    ok    ok    ban    401|bad
DELETE /api/user/{id}/sessions/{session}  401   no    ok    ok    ban    401|bad
DELETE /api/user/{id}/sessions            401   no    ok    ok    ban    401|bad

GET    /api/token/                        401   ok    ok    ok    ban    401|bad
GET    /api/token/search                  401   ok    ok    ok    ban    401|bad
POST   /api/token/find                    401   ok    ok    ok    ban    401|bad
GET    /api/token/projects                401   ok    ok    ok    ban    401|bad
GET    /api/token/{id}                    401   ok    ok    ok    ban    401|bad
POST   /api/token/                        401   ok    ok    ok    ban    401|bad
PUT    /api/token/                        401   ok    ok    ok    ban    401|bad
POST   /api/token/{id}/rotate             401   ok    ok    ok    ban    401|bad
DELETE /api/token/{id}/old-key            401   ok    ok    ok    ban    401|bad
DELETE /api/token/{id}                    401   ok    ok    ok    ban    401|bad

GET    /api/channel/                      401   no    ok    ok    ban    401|bad
GET    /api/channel/search                401   no    ok    ok    ban    401|bad
GET    /api/channel/models                401   no    ok    ok    ban    401|bad
GET    /api/channel/types                 401   no    ok    ok    ban    401|bad
GET    /api/models                        401   ok    ok    ok    ban    401|bad
GET    /api/channel/health                401   no    ok    ok    ban    401|bad
GET    /api/channel/limits                401   no    ok    ok    ban    401|bad
GET    /api/channel/{id}/timeline         401   no    ok    ok    ban    401|bad
GET    /api/channel/test                  401   no    ok    ok    ban    401|bad
GET    /api/channel/test/{id}             401   no    ok    ok    ban    401|bad
GET    /api/channel/test/progress         401   no    ok    ok    ban    401|bad
GET    /api/channel/{id}/tests            401   no    ok    ok    ban    401|bad
GET    /api/channel/update_balance        401   no    ok    ok    ban    401|bad
GET    /api/channel/update_balance/{id}   401   no    ok    ok    ban    401|bad
GET    /api/channel/{id}/upstream_models  401   no    ok    ok    ban    401|bad
GET    /api/channel/tags                  401   no    ok    ok    ban    401|bad
GET    /api/channel/{id}/costs            401   no    ok    ok    ban    401|bad
PUT    /api/channel/{id}/costs            401   no    ok    ok    ban    401|bad
PUT    /api/channel/{id}/costs/feed       401   no    ok    ok    ban    401|bad
POST   /api/channel/{id}/costs/feed/check 401   no    ok    ok    ban    401|bad
POST   /api/channel/{id}/costs/held       401   no    ok    ok    ban    401|bad
POST   /api/channel/{id}/costs/preview    401   no    ok    ok    ban    401|bad
POST   /api/channel/probe                 401   no    ok    ok    ban    401|bad
GET    /api/channel/{id}                  401   no    ok    ok    ban    401|bad
POST   /api/channel/                      401   no    ok    ok    ban    401|bad
PUT    /api/channel/                      401   no    ok    ok    ban    401|bad
DELETE /api/channel/disabled              401   no    ok    ok    ban    401|bad
DELETE /api/channel/{id}                  401   no    ok    ok    ban    401|bad
POST   /api/channel/batch                 401   no    ok    ok    ban    401|bad
POST   /api/channel/{id}/copy             401   no    ok    ok    ban    401|bad
GET    /api/channel/{id}/keys             401   no    ok    ok    ban    401|bad
POST   /api/channel/{id}/keys/revive      401   no    ok    ok    ban    401|bad
DELETE /api/channel/{id}/keys/dead        401   no    ok    ok    ban    401|bad

GET    /api/virtual-model/               401   no    ok    ok    ban    401|bad
POST   /api/virtual-model/               401   no    ok    ok    ban    401|bad
PUT    /api/virtual-model/               401   no    ok    ok    ban    401|bad
DELETE /api/virtual-model/{id}           401   no    ok    ok    ban    401|bad
POST   /api/virtual-model/dry-run        401   no    ok    ok    ban    401|bad

GET    /api/user/dashboard                401   ok    ok    ok    ban    401|bad
GET    /api/usage/                        401   ok    ok    ok    ban    401|bad
GET    /api/overview/                     401   no    ok    ok    ban    401|bad
GET    /api/overview/self                 401   ok    ok    ok    ban    401|bad
GET    /api/usage/table                   401   ok    ok    ok    ban    401|bad
GET    /api/user/statement                401   ok    ok    ok    ban    401|bad
GET    /api/usage/values                  401   ok    ok    ok    ban    401|bad
GET    /api/user/statement-emails         401   ok    ok    ok    ban    401|bad
PUT    /api/user/statement-emails         401   ok    ok    ok    ban    401|bad
GET    /api/usage/export                  401   ok    ok    ok    ban    401|bad
GET    /api/budget/                       401   ok    ok    ok    ban    401|bad
GET    /api/budget/export                 401   ok    ok    ok    ban    401|bad
GET    /api/price/                        401   ok    ok    ok    ban    401|bad
GET    /api/model/facts                   401   ok    ok    ok    ban    401|bad
GET    /api/model/figures                 401   ok    ok    ok    ban    401|bad
GET    /api/log/                          401   no    ok    ok    ban    401|bad
GET    /api/log/self                      401   ok    ok    ok    ban    401|bad
GET    /api/log/stat                      401   no    ok    ok    ban    401|bad
GET    /api/log/self/stat                 401   ok    ok    ok    ban    401|bad
GET    /api/log/search                    401   no    ok    ok    ban    401|bad
GET    /api/log/self/search               401   ok    ok    ok    ban    401|bad
GET    /api/log/histogram                 401   no    ok    ok    ban    401|bad
GET    /api/log/self/histogram            401   ok    ok    ok    ban    401|bad
GET    /api/log/export                    401   no    ok    ok    ban    401|bad
GET    /api/log/self/export               401   ok    ok    ok    ban    401|bad
GET    /api/log/stream                    401   no    ok    ok    ban    401|bad
GET    /api/log/self/stream               401   ok    ok    ok    ban    401|bad
DELETE /api/log/                          401   no    ok    ok    ban    401|bad

GET    /api/option/                       401   no    ok    ok    ban    401|bad
GET    /api/option/definitions            401   no    ok    ok    ban    401|bad
PUT    /api/option/                       401   no    ok    ok    ban    401|bad
GET    /api/option/prices                 401   no    ok    ok    ban    401|bad
GET    /api/option/latest_release         401   no    ok    ok    ban    401|bad
POST   /api/option/test_mail              401   no    no    ok    ban    401|bad

GET    /api/group/                        401   no    ok    ok    ban    401|bad
GET    /api/group/ratios                  401   no    ok    ok    ban    401|bad

GET    /api/alert/rule                    401   no    ok    ok    ban    401|bad
POST   /api/alert/rule                    401   no    ok    ok    ban    401|bad
PUT    /api/alert/rule                    401   no    ok    ok    ban    401|bad
DELETE /api/alert/rule/{id}               401   no    ok    ok    ban    401|bad
GET    /api/alert/destination             401   no    ok    ok    ban    401|bad
POST   /api/alert/destination             401   no    ok    ok    ban    401|bad
PUT    /api/alert/destination             401   no    ok    ok    ban    401|bad
DELETE /api/alert/destination/{id}        401   no    ok    ok    ban    401|bad
POST   /api/alert/destination/{id}/test   401   no    ok    ok    ban    401|bad
GET    /api/alert/history                 401   no    ok    ok    ban    401|bad
GET    /api/alert/self/rule               401   ok    ok    ok    ban    401|bad
POST   /api/alert/self/rule               401   ok    ok    ok    ban    401|bad
PUT    /api/alert/self/rule               401   ok    ok    ok    ban    401|bad
DELETE /api/alert/self/rule/{id}          401   ok    ok    ok    ban    401|bad
GET    /api/alert/self/destination        401   ok    ok    ok    ban    401|bad
POST   /api/alert/self/destination        401   ok    ok    ok    ban    401|bad
PUT    /api/alert/self/destination        401   ok    ok    ok    ban    401|bad
DELETE /api/alert/self/destination/{id}   401   ok    ok    ok    ban    401|bad
POST   /api/alert/self/destination/{id}/test 401   ok    ok    ok    ban    401|bad
GET    /api/alert/self/history            401   ok    ok    ok    ban    401|bad

GET    /api/audit/                        401   no    ok    ok    ban    401|bad

GET    /api/backup/                       401   no    no    ok    ban    401|bad
POST   /api/backup/                       401   no    no    ok    ban    401|bad

GET    /api/log_copy/                     401   no    no    ok    ban    401|bad
POST   /api/log_copy/test                 401   no    no    ok    ban    401|bad

GET    /api/import/                       401   no    no    ok    ban    401|bad
POST   /api/import/upload                 401   no    no    ok    ban    401|bad
POST   /api/import/                       401   no    no    ok    ban    401|bad
POST   /api/import/{id}/again             401   no    no    ok    ban    401|bad
POST   /api/import/{id}/cancel            401   no    no    ok    ban    401|bad
GET    /api/import/{id}/report            401   no    no    ok    ban    401|bad
GET    /api/import/{id}/leftovers         401   no    no    ok    ban    401|bad

GET    /api/config                        401   no    no    ok    ban    401|bad
PUT    /api/config                        401   no    no    ok    ban    401|bad
GET    /api/config/schema.json            ok    ok    ok    ok    ok     ok

GET    /api/doctor                        ok    ok    ok    ok    ok     ok

GET    /api/capture/rule/                 401   no    no    ok    ban    401|bad
POST   /api/capture/rule/                 401   no    no    ok    ban    401|bad
POST   /api/capture/rule/{id}/end         401   no    no    ok    ban    401|bad
GET    /api/capture/self                  401   ok    ok    ok    ban    401|bad
GET    /api/capture/choices               401   no    no    ok    ban    401|bad
GET    /api/capture/{request_id}          401   no    no    ok    ban    401|bad

GET    /api/redemption/                   401   no    ok    ok    ban    401|bad
GET    /api/redemption/search             401   no    ok    ok    ban    401|bad
GET    /api/redemption/batches            401   no    ok    ok    ban    401|bad
PUT    /api/redemption/batches            401   no    ok    ok    ban    401|bad
GET    /api/redemption/{id}               401   no    ok    ok    ban    401|bad
POST   /api/redemption/                   401   no    ok    ok    ban    401|bad
PUT    /api/redemption/                   401   no    ok    ok    ban    401|bad
DELETE /api/redemption/{id}               401   no    ok    ok    ban    401|bad
POST   /api/user/topup                    401   ok    ok    ok    ban    401|bad
POST   /api/topup                         401   no    ok    ok    ban    401|bad
`

/**
 * What callers may do to a user. In the first four columns, the caller is an admin, and the user is an ordinary user,
 * another admin, root, or the caller. In the other columns, the caller is root, and the user is again an ordinary user,
 * an admin, another root, or the caller.
 */
const whoseRows = `
                          admin→user admin→admin admin→root admin→self root→user root→admin root→root root→self
GET    /api/user/{id}     ok         above       above      ok         ok        ok         ok        ok
PUT    /api/user/         ok         above       above      above      ok        ok         ok        ok
POST   /api/user/manage   ok         above       above      above      ok        ok         last      last
DELETE /api/user/{id}     ok         above       above      above      ok        ok         above     above
GET    /api/user/{id}/tokens          ok         above       above      ok         ok        ok         ok        ok
PUT    /api/user/{id}/tokens/{token}          ok         above       above      ok         ok        ok         ok        ok
GET    /api/user/{id}/sessions          ok         above       above      ok         ok        ok         ok        ok
DELETE /api/user/{id}/sessions/{session}          ok         above       above      ok         ok        ok         ok        ok
DELETE /api/user/{id}/sessions          ok         above       above      ok         ok        ok         ok        ok
POST   /api/topup         ok         ok          ok         ok         ok        ok         ok        ok
GET    /api/token/{id}    none       none        none       ok         none      none       none      ok
PUT    /api/token/        none       none        none       ok         none      none       none      ok
POST   /api/token/{id}/rotate    none       none        none       ok         none      none       none      ok
DELETE /api/token/{id}/old-key   none       none        none       ok         none      none       none      ok
DELETE /api/token/{id}    none       none        none       ok         none      none       none      ok
`

/**
 * The status of a relay call: by the role of the token's owner, for tokens that must not be used, and for credentials
 * that are not relay tokens.
 */
const relayRows = `
                                                      none user admin root banned deleted | disabled expired used-up | cookie access
POST /v1/chat/completions                             401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/completions                                  401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/embeddings                                   401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/engines/{model}/embeddings                   401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/rerank                                       401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/moderations                                  401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/images/generations                           401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/images/edits                                 401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/images/variations                            401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/audio/speech                                 401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/audio/transcriptions                         401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/audio/translations                           401  200  200   200  403    403     | 401      401     401     | 401    401
GET  /v1/models                                       401  200  200   200  403    403     | 401      401     401     | 401    401
GET  /v1/models/{model}                               401  200  200   200  403    403     | 401      401     401     | 401    401
GET  /dashboard/billing/subscription                  401  200  200   200  403    403     | 401      401     401     | 401    401
GET  /v1/dashboard/billing/subscription               401  200  200   200  403    403     | 401      401     401     | 401    401
GET  /dashboard/billing/usage                         401  200  200   200  403    403     | 401      401     401     | 401    401
GET  /v1/dashboard/billing/usage                      401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/responses                                    401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/responses/compact                            401  200  200   200  403    403     | 401      401     401     | 401    401
GET  /v1/responses                                    401  426  426   426  403    403     | 401      401     401     | 401    401
GET /v1/responses/{id}                                401  404  404   404  403    403     | 401      401     401     | 401    401
DELETE /v1/responses/{id}                             401  404  404   404  403    403     | 401      401     401     | 401    401
GET /v1/responses/{id}/input_items                    401  404  404   404  403    403     | 401      401     401     | 401    401
POST /v1/responses/{id}/cancel                        401  404  404   404  403    403     | 401      401     401     | 401    401
POST /v1/conversations                                401  404  404   404  403    403     | 401      401     401     | 401    401
GET /v1/conversations/{id}                            401  404  404   404  403    403     | 401      401     401     | 401    401
POST /v1/conversations/{id}                           401  404  404   404  403    403     | 401      401     401     | 401    401
DELETE /v1/conversations/{id}                         401  404  404   404  403    403     | 401      401     401     | 401    401
GET /v1/conversations/{id}/items                      401  404  404   404  403    403     | 401      401     401     | 401    401
POST /v1/conversations/{id}/items                     401  404  404   404  403    403     | 401      401     401     | 401    401
GET /v1/conversations/{id}/items/{item_id}            401  404  404   404  403    403     | 401      401     401     | 401    401
DELETE /v1/conversations/{id}/items/{item_id}         401  404  404   404  403    403     | 401      401     401     | 401    401
GET  /v1/realtime                                     401  426  426   426  403    403     | 401      401     401     | 401    401
POST /v1/messages                                     401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1/messages/count_tokens                        401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1beta/models/{model}:generateContent           401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1beta/models/{model}:streamGenerateContent     401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1beta/models/{model}:countTokens               401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1beta/models/{model}:embedContent              401  200  200   200  403    403     | 401      401     401     | 401    401
POST /v1beta/models/{model}:batchEmbedContents        401  200  200   200  403    403     | 401      401     401     | 401    401
GET  /v1beta/models                                   401  200  200   200  403    403     | 401      401     401     | 401    401
GET  /v1beta/models/{model}                           401  200  200   200  403    403     | 401      401     401     | 401    401
`

/**
 * The status of routes that are part of neither the relay nor the management API. ALL means every method, and * means
 * any path below.
 */
const otherRows = `
                         none user admin root banned deleted
GET /healthz             200  200  200   200  200    200
GET /readyz              200  200  200   200  200    200
GET /metrics             200  200  200   200  200    200
ALL /api                 404  404  404   404  404    404
ALL /api/*               404  404  404   404  404    404
ALL /v1/*                404  404  404   404  404    404
ALL /dashboard/*         404  404  404   404  404    404
ALL /upload/*            404  404  404   404  404    404
ALL /v1alpha/*           404  404  404   404  404    404
ALL /v1beta/*            404  404  404   404  404    404
`

/** Middleware that requests pass through, for limits and authentication. It does not serve responses itself. */
export const middleware = ['ALL /*', 'ALL /v1/dashboard/*']

export interface Row {
  route: string
  cells: Readonly<Record<string, string>>
}

/** The rows of a table: a method and a path, then one word per column. */
function rowsOf(table: string): Row[] {
  const [head = '', ...lines] = table.split('\n').filter((line) => line.trim() !== '')
  const columns = head.replaceAll('|', ' ').trim().split(/\s+/)
  return lines.map((line) => {
    const [method, path, ...words] = line.replaceAll(' | ', ' ').trim().split(/\s+/)
    if (words.length !== columns.length) throw new Error(`a row of another length: ${line}`)
    return { route: `${method} ${path}`, cells: Object.fromEntries(columns.map((name, i) => [name, words[i] ?? ''])) }
  })
}

export const tables = {
  management: rowsOf(managementRows),
  whose: rowsOf(whoseRows),
  relay: rowsOf(relayRows),
  other: rowsOf(otherRows),
}
