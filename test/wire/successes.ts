import { expect } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { addAlertEvent } from '../../server/store/accounts/alert-history.ts'
import { saveCode } from '../../server/store/accounts/one-time-codes.ts'
import { type Credentials, type Person, password, type WireGate } from './gate.ts'

/** A caller and its credentials, which are empty if nobody is logged in. */
export interface Me extends Pick<Person, 'id' | 'username' | 'tokenId'> {
  as: Credentials
}

type Success = (gate: WireGate, me: Me) => Promise<Response>

const plain =
  (method: string, path: string, body?: unknown): Success =>
  (gate, { as }) =>
    gate.call(method, path, { as, ...(body !== undefined && { body }) })

/** A call whose path or body refers to something that is created just for this call. */
const made =
  <T>(make: (gate: WireGate, me: Me) => T | Promise<T>, call: (made: T) => Parameters<typeof plain>): Success =>
  async (gate, me) =>
    plain(...call(await make(gate, me)))(gate, me)

/** A call whose response never ends. Only the beginning of the response is read. */
const opening =
  (call: Success): Success =>
  async (gate, me) => {
    const { body, status, headers } = await call(gate, me)
    const reader = body?.getReader()
    const first = await reader?.read()
    await reader?.cancel()
    return new Response(first?.value ?? null, { status, headers })
  }

const person = (gate: WireGate) => gate.person('user')
const channel = ({ channelId }: WireGate) => channelId
const own = (_: WireGate, me: Me) => me

/** The id of a person's session in the management API. */
export function sessionOf({ gateway }: WireGate, { cookie }: Person): string {
  return gateway.context.api.secrets.fingerprint(cookie.replace('session=', ''), 'session').slice(0, 16)
}

async function sessionOfPerson(gate: WireGate): Promise<{ id: number; session: string }> {
  const somebody = await person(gate)
  return { id: somebody.id, session: sessionOf(gate, somebody) }
}

let count = 0
/** A new number, which makes a name unique. */
const next = () => String(++count)

/** For each endpoint, a call that succeeds with real data if the caller is allowed to make it. */
export const successes: Readonly<Record<string, Success>> = {
  statusStatus: plain('GET', '/api/status'),
  statusNotice: plain('GET', '/api/notice'),
  statusAbout: plain('GET', '/api/about'),
  statusHomePageContent: plain('GET', '/api/home_page_content'),

  authLogin: made(own, ({ username }) => ['POST', '/api/user/login', { username, password }]),
  authLogout: plain('GET', '/api/user/logout'),
  authRegister: made(next, (n) => ['POST', '/api/user/register', { username: `new${n}`, password }]),
  authVerification: made(next, (n) => ['GET', `/api/verification?email=verify${n}@example.com`]),
  authAskReset: made(next, (n) => ['GET', `/api/reset_password?email=nobody${n}@example.com`]),
  authReset: made(resetLink, (body) => ['POST', '/api/user/reset', body]),

  oauthState: plain('GET', '/api/oauth/state'),
  oauthGithubStart: plain('GET', '/api/oauth/github/start'),
  oauthGithub: outsideLogin,
  oauthWechat: made(wechatCode, (code) => ['GET', `/api/oauth/wechat?code=${code}`]),
  oauthWechatBind: made(wechatCode, (code) => ['GET', `/api/oauth/wechat/bind?code=${code}`]),
  oauthEmailBind: made(mailedCode, (query) => ['GET', `/api/oauth/email/bind?${query}`]),

  userSelf: plain('GET', '/api/user/self'),
  userUpdateSelf: plain('PUT', '/api/user/self', { display_name: 'Somebody' }),
  userDeleteSelf: plain('DELETE', '/api/user/self'),
  userAccessToken: plain('GET', '/api/user/token'),
  userAff: plain('GET', '/api/user/aff'),
  userAvailableModels: plain('GET', '/api/user/available_models'),
  userGroups: plain('GET', '/api/user/self/groups'),
  userList: plain('GET', '/api/user/?size=50'),
  userSearch: plain('GET', '/api/user/search?keyword=user'),
  userGet: made(person, ({ id }) => ['GET', `/api/user/${id}`]),
  userCreate: made(next, (n) => ['POST', '/api/user/', { username: `made${n}`, password }]),
  userUpdate: made(person, ({ id }) => ['PUT', '/api/user/', { id, quota_delta: 5 }]),
  userManage: made(person, ({ username }) => ['POST', '/api/user/manage', { username, action: 'disable' }]),
  userRemove: made(person, ({ id }) => ['DELETE', `/api/user/${id}`]),
  tokenProjects: plain('GET', '/api/token/projects'),
  userTokens: made(person, ({ id }) => ['GET', `/api/user/${id}/tokens`]),
  userSetTokenStatus: made(person, ({ id, tokenId }) => ['PUT', `/api/user/${id}/tokens/${tokenId}`, { status: 2 }]),
  userSessions: made(person, ({ id }) => ['GET', `/api/user/${id}/sessions`]),
  userEndSession: made(sessionOfPerson, ({ id, session }) => ['DELETE', `/api/user/${id}/sessions/${session}`]),
  userEndSessions: made(person, ({ id }) => ['DELETE', `/api/user/${id}/sessions`]),

  tokenList: plain('GET', '/api/token/'),
  tokenSearch: plain('GET', '/api/token/search?keyword='),
  tokenFind: made(ownKey, (key) => ['POST', '/api/token/find', { key }]),
  tokenGet: made(own, ({ tokenId }) => ['GET', `/api/token/${tokenId}`]),
  tokenCreate: plain('POST', '/api/token/', { name: 'another', models: 'gpt-4o', subnet: '10.0.0.0/8' }),
  tokenUpdate: made(own, ({ tokenId }) => ['PUT', '/api/token/', { id: tokenId, name: 'renamed' }]),
  tokenRotate: made(own, ({ tokenId }) => ['POST', `/api/token/${tokenId}/rotate`, { keep_seconds: 3600 }]),
  tokenEndOldKey: made(own, ({ tokenId }) => ['DELETE', `/api/token/${tokenId}/old-key`]),
  tokenRemove: made(own, ({ tokenId }) => ['DELETE', `/api/token/${tokenId}`]),

  channelList: plain('GET', '/api/channel/'),
  channelSearch: plain('GET', '/api/channel/search?keyword=test'),
  channelModels: plain('GET', '/api/channel/models'),
  channelTypes: plain('GET', '/api/channel/types'),
  channelDefaultModels: plain('GET', '/api/models'),
  channelTestAll: made(idle, () => ['GET', '/api/channel/test']),
  channelTest: made(channel, (id) => ['GET', `/api/channel/test/${id}`]),
  channelTestProgress: plain('GET', '/api/channel/test/progress'),
  channelHealth: plain('GET', '/api/channel/health'),
  channelLimits: plain('GET', '/api/channel/limits'),
  channelTimeline: made(channel, (id) => ['GET', `/api/channel/${id}/timeline`]),
  channelTests: made(channel, (id) => ['GET', `/api/channel/${id}/tests`]),
  channelUpdateAllBalances: plain('GET', '/api/channel/update_balance'),
  channelUpdateBalance: made(channel, (id) => ['GET', `/api/channel/update_balance/${id}`]),
  channelUpstreamModels: made(channel, (id) => ['GET', `/api/channel/${id}/upstream_models`]),
  channelProbe: made(
    ({ upstream }) => upstream.url,
    (base_url) => ['POST', '/api/channel/probe', { type: 8, key: 'sk-new', base_url, models: 'gpt-4o' }],
  ),
  channelTags: async (gate, me) => {
    await plain('PUT', '/api/channel/', { id: gate.channelId, tags: ['eu'] })(gate, me)
    return plain('GET', '/api/channel/tags')(gate, me)
  },
  channelCosts: made(channel, (id) => ['GET', `/api/channel/${id}/costs`]),
  channelSetCosts: made(channel, (id) => ['PUT', `/api/channel/${id}/costs`, { multiplier: 0.8, models: {} }]),
  channelSetFeed: made(channel, (id) => [
    'PUT',
    `/api/channel/${id}/costs/feed`,
    { feed: { kind: 'openrouter', every_hours: 24 } },
  ]),
  channelCheckFeed: async (gate, me) => {
    const url = `${gate.upstream.url}/api/pricing`
    const feed = { kind: 'gateway', url, every_hours: 24 }
    await plain('PUT', `/api/channel/${gate.channelId}/costs/feed`, { feed })(gate, me)
    return plain('POST', `/api/channel/${gate.channelId}/costs/feed/check`)(gate, me)
  },
  channelDecideHeld: async (gate, me) => {
    const feed = { kind: 'openrouter', every_hours: 24 }
    await plain('PUT', `/api/channel/${gate.channelId}/costs/feed`, { feed })(gate, me)
    return plain('POST', `/api/channel/${gate.channelId}/costs/held`, {})(gate, me)
  },
  channelPreviewCosts: made(
    ({ channelId, upstream }) => ({ channelId, upstream }),
    ({ channelId, upstream }) => [
      'POST',
      `/api/channel/${channelId}/costs/preview`,
      { kind: 'gateway', url: `${upstream.url}/api/pricing` },
    ],
  ),
  channelGet: made(channel, (id) => ['GET', `/api/channel/${id}`]),
  channelCreate: plain('POST', '/api/channel/', { name: 'two', key: 'one\ntwo', models: 'gpt-4o', status: 2 }),
  channelUpdate: made(channel, (id) => ['PUT', '/api/channel/', { id, weight: 3 }]),
  channelCopy: made(channel, (id) => ['POST', `/api/channel/${id}/copy`, { name: 'copy' }]),
  channelBatch: made(channel, (id) => ['POST', '/api/channel/batch', { ids: [id], action: 'edit', priority: 1 }]),
  channelKeys: made(channelOfKeys, (id) => ['GET', `/api/channel/${id}/keys`]),
  channelReviveKeys: made(channelOfKeys, (id) => ['POST', `/api/channel/${id}/keys/revive`]),
  channelRemoveDeadKeys: made(channelOfKeys, (id) => ['DELETE', `/api/channel/${id}/keys/dead`]),
  channelRemove: made(channelOfKeys, (id) => ['DELETE', `/api/channel/${id}`]),
  channelRemoveDisabled: plain('DELETE', '/api/channel/disabled'),

  logDashboard: plain('GET', '/api/user/dashboard'),
  logList: plain('GET', '/api/log/?type=2'),
  logSelf: plain('GET', '/api/log/self'),
  logStat: plain('GET', '/api/log/stat'),
  logSelfStat: plain('GET', '/api/log/self/stat'),
  logSearch: plain('GET', '/api/log/search?keyword=2'),
  logSelfSearch: plain('GET', '/api/log/self/search?keyword=2'),
  logHistogram: plain('GET', '/api/log/histogram'),
  logSelfHistogram: plain('GET', '/api/log/self/histogram'),
  logExport: plain('GET', '/api/log/export'),
  logSelfExport: plain('GET', '/api/log/self/export'),
  logStream: opening(plain('GET', '/api/log/stream')),
  logSelfStream: opening(plain('GET', '/api/log/self/stream')),
  ...alertSuccesses('alert', '/api/alert', { kind: 'error_rate', name: 'errors', threshold: 10 }),
  ...alertSuccesses('alertSelf', '/api/alert/self', { kind: 'own_balance', name: 'balance', threshold: 1000 }),

  virtualModelList: made(virtualModel, () => ['GET', '/api/virtual-model/']),
  virtualModelCreate: made(next, (n) => ['POST', '/api/virtual-model/', { name: `v${n}`, steps: [{ model: 'm' }] }]),
  virtualModelUpdate: made(virtualModel, (id) => ['PUT', '/api/virtual-model/', { id, description: 'other' }]),
  virtualModelRemove: made(virtualModel, (id) => ['DELETE', `/api/virtual-model/${id}`]),
  virtualModelDryRun: plain('POST', '/api/virtual-model/dry-run', { model: 'm' }),

  overviewRead: plain('GET', '/api/overview/'),
  overviewSelf: plain('GET', '/api/overview/self?utc_offset=60'),
  usageRead: plain('GET', '/api/usage/?group_by=model&compare=previous'),
  usageTable: plain('GET', '/api/usage/table?by=user&and=model&compare=previous'),
  usageValues: plain('GET', '/api/usage/values?of=model'),
  usageStatement: plain('GET', '/api/user/statement?month=2000-01'),
  usageStatementEmails: plain('GET', '/api/user/statement-emails'),
  usageSetStatementEmails: plain('PUT', '/api/user/statement-emails', { wanted: true }),
  usageExport: plain('GET', '/api/usage/export?by=model'),
  usageBudgets: plain('GET', '/api/budget/?level=near'),
  usageBudgetsExport: plain('GET', '/api/budget/export'),
  priceList: plain('GET', '/api/price/'),
  modelFacts: plain('GET', '/api/model/facts'),
  modelFigures: plain('GET', '/api/model/figures'),
  modelVisitors: plain('GET', '/api/model/public'),
  statusPageRead: plain('GET', '/api/status-page'),
  logPurge: plain('DELETE', '/api/log/?target_timestamp=1000'),

  optionList: plain('GET', '/api/option/'),
  optionDefinitions: plain('GET', '/api/option/definitions'),
  optionUpdate: plain('PUT', '/api/option/', { key: 'SystemName', value: 'Gate' }),
  optionPrices: plain('GET', '/api/option/prices'),
  optionLatestRelease: plain('GET', '/api/option/latest_release'),
  optionTestMail: plain('POST', '/api/option/test_mail', { email: 'test@example.com' }),

  groupList: plain('GET', '/api/group/'),
  groupRatios: plain('GET', '/api/group/ratios'),

  auditList: plain('GET', '/api/audit/'),

  backupList: plain('GET', '/api/backup/'),
  logCopyState: plain('GET', '/api/log_copy/'),
  logCopyTest: made(logCopyOn, () => ['POST', '/api/log_copy/test']),
  backupStart: made(backupsOn, () => ['POST', '/api/backup/']),
  importList: made(importRun, () => ['GET', '/api/import/']),
  importUpload: plain('POST', '/api/import/upload', 'model_list:\n  - model_name: m\n'),
  importStart: made(importRun, () => ['POST', '/api/import/', { address: 'mysql://a:b@127.0.0.1:9/c', dry_run: true }]),
  importAgain: made(importRun, (id) => ['POST', `/api/import/${id}/again`, { dry_run: true }]),
  importCancel: made(activeImport, (id) => ['POST', `/api/import/${id}/cancel`]),
  importReport: made(importRun, (id) => ['GET', `/api/import/${id}/report`]),
  importLeftovers: made(importRun, (id) => ['GET', `/api/import/${id}/leftovers`]),

  configExport: made(distinctNames, () => ['GET', '/api/config']),
  configApply: plain('PUT', '/api/config', { version: 1, options: { SystemName: 'Tollgate' } }),
  configSchema: plain('GET', '/api/config/schema.json'),

  doctorStream: async (gate) =>
    gate.call('GET', '/api/doctor', { headers: { 'x-tollgate-doctor': await doctorSecret(gate) } }),

  captureRules: made(recordingRule, () => ['GET', '/api/capture/rule/']),
  captureAddRule: made(own, ({ id }) => ['POST', '/api/capture/rule/', recordingOf(id)]),
  captureEndRule: made(recordingRule, (id) => ['POST', `/api/capture/rule/${id}/end`]),
  captureChoices: plain('GET', '/api/capture/choices?target=user&keyword=ro'),
  captureOwn: plain('GET', '/api/capture/self'),
  captureRead: made(recordedRequest, (id) => ['GET', `/api/capture/${id}`]),

  redemptionList: plain('GET', '/api/redemption/'),
  redemptionSearch: plain('GET', '/api/redemption/search?keyword=code'),
  redemptionBatches: plain('GET', '/api/redemption/batches?keyword=code'),
  redemptionSwitchBatch: made(redemption, () => ['PUT', '/api/redemption/batches', { name: 'code', status: 2 }]),
  redemptionGet: made(redemption, (id) => ['GET', `/api/redemption/${id}`]),
  redemptionCreate: plain('POST', '/api/redemption/', { name: 'code', quota: 100, count: 2 }),
  redemptionUpdate: made(redemption, (id) => ['PUT', '/api/redemption/', { id, quota: 200 }]),
  redemptionRemove: made(redemption, (id) => ['DELETE', `/api/redemption/${id}`]),
  redemptionRedeem: made(code, (key) => ['POST', '/api/user/topup', { key }]),
  redemptionTopUp: made(person, ({ id }) => ['POST', '/api/topup', { user_id: id, quota: 100 }]),

  docsDocument: plain('GET', '/api/openapi.json'),
  docsPage: plain('GET', '/api/docs'),
}

/** The key of the caller's token. A caller who is not allowed to see one gets a key that belongs to nobody. */
async function ownKey({ call }: WireGate, { as, tokenId }: Me): Promise<string> {
  const { data } = (await (await call('GET', `/api/token/${tokenId}`, { as })).json()) as { data?: { key: string } }
  return data?.key ?? 'x'.repeat(48)
}

/**
 * Makes the requests of a browser that logs in with GitHub. If a user is logged in, these requests bind a GitHub
 * account to the user.
 */
async function outsideLogin(gate: WireGate, { as }: Me): Promise<Response> {
  const start = await gate.call('GET', '/api/oauth/github/start')
  const { data } = (await start.json()) as { data: string }
  const id = 1000 + Number(next())
  const { code, state } = gate.hub.agree(data, { id, login: `octo${id}` })
  const jar = [...start.headers.getSetCookie().map((line) => line.split(';')[0]), ...(as.cookie ? [as.cookie] : [])]
  const query = new URLSearchParams({ code, state })
  return gate.call('GET', `/api/oauth/github?${query}`, { as: { ...as, cookie: jar.join('; ') } })
}

function wechatCode({ helper }: WireGate): string {
  return helper.codeFor(`wx-${next()}`)
}

/** The email address of a user who requested a new password, and the token from the email. */
async function resetLink(gate: WireGate): Promise<{ email: string; token: string }> {
  const { id } = await gate.person('user')
  const email = `reset${next()}@example.com`
  await gate.gateway.context.store.write((trx) =>
    trx.updateTable('users').set({ email }).where('id', '=', id).execute(),
  )
  await gate.call('GET', `/api/reset_password?email=${email}`)
  return { email, token: /token=(\w+)/.exec(await mailTo(gate, email))?.[1] ?? '' }
}

/** A query that binds an email address with the code that was sent to it. */
async function mailedCode(gate: WireGate): Promise<string> {
  const email = `bind${next()}@example.com`
  await gate.call('GET', `/api/verification?email=${email}`)
  return `email=${email}&code=${/\b\d{6}\b/.exec(await mailTo(gate, email))?.[0]}`
}

async function mailTo({ smtp }: WireGate, address: string): Promise<string> {
  for (;;) {
    const found = smtp.mails.find(({ to }) => to.includes(address))
    if (found) return found.text
    await smtp.arrived(smtp.mails.length + 1)
  }
}

/** Waits until no test of all channels is running, because only one can run at a time. */
async function idle({ gateway }: WireGate): Promise<void> {
  while (
    (await gateway.context.store.read.selectFrom('job_runs').selectAll().execute()).some((run) => run.finished_at === 0)
  )
    await new Promise((resolve) => setTimeout(resolve, 5))
}

async function code({ gateway }: WireGate): Promise<string> {
  const codes = await gateway.api<string[]>('POST', '/api/redemption/', { name: 'code', quota: 100 })
  return codes[0] ?? ''
}

async function redemption(gate: WireGate): Promise<number> {
  const key = await code(gate)
  const rows = await gate.gateway.api<{ id: number; key: string }[]>('GET', '/api/redemption/')
  const found = rows.find((row) => row.key === key)
  expect(found).toBeDefined()
  return found?.id ?? 0
}

/** Gives channels and rules distinct names, because a configuration export identifies them by name. */
async function distinctNames({ gateway }: WireGate): Promise<void> {
  const { store } = gateway.context
  await store.write(async (trx) => {
    await trx.updateTable('channels').set({ name: sql<string>`'channel ' || id` }).execute()
    await trx.updateTable('alert_rules').set({ name: sql<string>`'rule ' || id` }).execute()
  })
}

/** Stores a secret in the database, as the command doctor does before it calls the server. Returns the secret. */
async function doctorSecret({ gateway }: WireGate): Promise<string> {
  const { store, secrets } = gateway.context.api
  const code = (purpose: string, subject: string, text: string) =>
    store.write((trx) =>
      saveCode(trx, {
        ...{ purpose, subject, code_hash: secrets.fingerprint(text, purpose) },
        ...{ created_time: 0, expires_time: 4_000_000_000 },
      }),
    )
  const subject = `wire${next()}`
  await code('doctor', subject, 'secret')
  for (const number of [1, 2]) await code('doctor-event', `${subject}.${number}`, `${subject}.${number}`)
  return `${subject}.secret`
}

function channelOfKeys({ gateway, upstream }: WireGate): Promise<number> {
  return gateway.addChannel({ base_url: upstream.url, name: 'keys', key: 'one\ntwo', ...{ key_mode: 'multi' } })
}

function recordingOf(userId: number) {
  return { target: 'user', target_id: userId, until: Math.floor(Date.now() / 1000) + 60 }
}

async function recordingRule({ gateway }: WireGate): Promise<number> {
  return (await gateway.api<{ id: number }>('POST', '/api/capture/rule/', recordingOf(1))).id
}

/** The id of a request that has been recorded. */
async function recordedRequest(gate: WireGate): Promise<string> {
  const { gateway } = gate
  const rule = await recordingRule(gate)
  const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Say hello.' }] }
  const response = await gateway.post('/v1/chat/completions', body)
  await response.text()
  await gateway.context.api.captures.close()
  await gateway.api('POST', `/api/capture/rule/${rule}/end`)
  return response.headers.get('x-oneapi-request-id') ?? ''
}

/** The id of a new virtual model. */
async function virtualModel({ gateway }: WireGate): Promise<number> {
  const body = { name: `v${next()}`, steps: [{ model: 'm' }] }
  return (await gateway.api<{ id: number }>('POST', '/api/virtual-model/', body)).id
}

/**
 * The calls for alert rules and destinations. The objects that some of these calls need are created through the same
 * API, so the caller must be allowed to use it.
 */
function alertSuccesses(prefix: string, base: string, rule: object): Readonly<Record<string, Success>> {
  const names = (name: string) => (prefix === 'alert' ? `alert${name}` : `alertSelf${name}`)
  // A configuration file cannot list two destinations with the same name.
  const destination = () => ({ kind: 'webhook', name: `hook${next()}`, url: 'https://192.0.2.1/hook' })
  const create = async (gate: WireGate, me: Me, path: string, body: object): Promise<number> => {
    const answer = await gate.call('POST', `${base}${path}`, { as: me.as, body })
    const { data } = (await answer.json()) as { data?: { id: number } }
    return data?.id ?? 1
  }
  const sentMessage = (gate: WireGate, me: Me) => {
    const owner_id = prefix === 'alert' ? 0 : me.id
    const event = {
      owner_id,
      rule_id: 1,
      rule_name: 'errors',
      event: 'firing',
      target: '',
      title: 'Firing',
      text: '',
    } as const
    const delivery = { destination_id: 1, destination: 'hook', kind: 'webhook', status: 'sent', next_at: 0 } as const
    return gate.gateway.context.api.store.write((trx) => addAlertEvent(trx, { ...event, created_at: 1 }, [delivery]))
  }
  const ruleId = (gate: WireGate, me: Me) => create(gate, me, '/rule', rule)
  const destinationId = (gate: WireGate, me: Me) => create(gate, me, '/destination', destination())
  return {
    [names('Rules')]: made(ruleId, () => ['GET', `${base}/rule`]),
    [names('CreateRule')]: plain('POST', `${base}/rule`, rule),
    [names('UpdateRule')]: made(ruleId, (id) => ['PUT', `${base}/rule`, { id, enabled: false }]),
    [names('RemoveRule')]: made(ruleId, (id) => ['DELETE', `${base}/rule/${id}`]),
    [names('Destinations')]: made(destinationId, () => ['GET', `${base}/destination`]),
    [names('CreateDestination')]: made(destination, (body) => ['POST', `${base}/destination`, body]),
    [names('UpdateDestination')]: made(destinationId, (id) => [
      'PUT',
      `${base}/destination`,
      { id, name: `other${id}` },
    ]),
    [names('RemoveDestination')]: made(destinationId, (id) => ['DELETE', `${base}/destination/${id}`]),
    [names('TestDestination')]: made(destinationId, (id) => ['POST', `${base}/destination/${id}/test`]),
    [names('History')]: made(sentMessage, () => ['GET', `${base}/history`]),
  }
}

async function backupsOn(gate: WireGate): Promise<void> {
  await gate.gateway.api('PUT', '/api/option/', { key: 'BackupPassphrase', value: 'a passphrase of a test' })
  await gate.gateway.api('PUT', '/api/option/', { key: 'BackupStore', value: 'files' })
}

async function logCopyOn(gate: WireGate): Promise<void> {
  await gate.gateway.api('PUT', '/api/option/', { key: 'LogCopyPlace', value: 'files' })
}

/** An import that waits for a file that no node has. */
async function activeImport({ gateway: { context } }: WireGate): Promise<number> {
  const { store, imports } = context.api
  const source = { address: '', logsAddress: '', saltKey: '', upload: 'a'.repeat(32), uploadName: 'one-api.db' }
  const choices = { dry_run: true, merge: false, only: [], since: 0 }
  return store.write(async (trx) => {
    await trx.updateTable('import_runs').set({ active: null, state: 'done' }).execute()
    return imports.queue(trx, source, choices, 'root')
  })
}

/** An import that has ended with leftovers. */
async function importRun(gate: WireGate): Promise<number> {
  const id = await activeImport(gate)
  const { context } = gate.gateway
  const folder = join(dirname(context.relay.spoolDir), 'imports')
  mkdirSync(folder, { recursive: true })
  const leftoversFile = join(folder, 'one-api-1-1.jsonl')
  writeFileSync(leftoversFile, '{"kind":"option"}\n')
  const report = {
    ...{ program: 'one-api', version: '0.6.11', source: 'one-api.db', dryRun: false, mode: 'empty' },
    added: { users: 1, tokens: 0, channels: 0, codes: 0, logs: 0 },
    sums: [{ name: 'users', there: 1, corrected: 0, here: 1 }],
    options: [{ key: 'Notice', from: '', to: 'x' }],
    prices: [{ model: 'm', theirs: '?', ours: '1' }],
    findings: [{ kind: 'users', text: 'A sentence.', count: 1, examples: ['user 1'] }],
    ...{ leftoversFile, leftovers: 1, changedMeanwhile: false, seconds: 1.5 },
  }
  await context.api.store.write((trx) =>
    trx
      .updateTable('import_runs')
      .set({ active: null, state: 'done', finished_at: 1, report: JSON.stringify(report) })
      .where('id', '=', id)
      .execute(),
  )
  return id
}
