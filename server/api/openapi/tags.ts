import type { api } from '../../../contract/api/index.ts'
import type { Tag } from './types.ts'

/** The names of the management API's groups in the document. */
export const groupTags: Readonly<Record<keyof typeof api, Tag>> = {
  status: { name: 'Status', description: 'Public information about this server.' },
  statusPage: { name: 'Status page', description: 'The availability of model families, for everybody.' },
  auth: {
    name: 'Login',
    description:
      'Login, logout, registration and password resets. Each emailed code or link works once, within ten minutes, and becomes invalid after five wrong attempts.',
  },
  oauth: { name: 'External logins', description: 'Login with GitHub or WeChat, and connecting them to an account.' },
  user: {
    name: 'Users',
    description: "The caller's own account and, for admins, the accounts of people with lower roles.",
  },
  token: {
    name: 'Tokens',
    description: "The caller's own sk- keys. Nobody can access the keys of other people here, not even admins.",
  },
  channel: { name: 'Channels', description: 'The upstreams. Their keys can be written but are never returned.' },
  log: { name: 'Logs', description: 'Calls and what they cost.' },
  usage: { name: 'Usage', description: 'Totals of calls over time.' },
  overview: { name: 'Overview', description: 'What is happening now, and what needs attention.' },
  option: { name: 'Options', description: 'Settings that change while the server runs.' },
  config: {
    name: 'Configuration',
    description: 'The configuration of the installation as one document, for version control and CI.',
  },
  group: { name: 'Groups', description: 'Classes of users. A group exists if it has a ratio.' },
  price: { name: 'Prices', description: 'What callers pay for each model.' },
  alert: {
    name: 'Alerts',
    description: 'Rules that send messages when something needs attention, and where the messages go.',
  },
  model: { name: 'Models', description: 'Facts about models, and how well they work on this server.' },
  virtualModel: {
    name: 'Virtual models',
    description: 'Models that consist of steps: if one step fails, the next one answers.',
  },
  audit: { name: 'Audit log', description: 'Who changed what.' },
  import: { name: 'Imports', description: 'Importing the data of other gateways.' },
  backup: { name: 'Backups', description: 'Backups of the database that the server makes.' },
  logCopy: { name: 'Copy of the log', description: 'The copy of the log in a second place.' },
  capture: {
    name: 'Recording',
    description: 'Bodies of requests, recorded for a limited time at the request of root.',
  },
  redemption: {
    name: 'Redemption codes',
    description: 'Codes that users can redeem for quota, and credit that admins add.',
  },
  doctor: { name: 'Self-check', description: 'What the command `doctor` calls to see how requests arrive.' },
  docs: { name: 'This document', description: 'The documentation of the API, for programs and for people.' },
}

export const relayTag: Tag = {
  name: 'Relay',
  description: `Requests that are passed on to a channel and charged. If the channel speaks the caller's dialect, the body is passed on unchanged, including fields that are not listed here. Otherwise it is translated: fields that the channel does not support are dropped and listed in the header \`X-Tollgate-Dropped\`.

A JSON body may have up to 32 MiB (the option \`RequestSizeLimit\`), 500,000 values, 100,000 arrays and objects (20,000 if it is translated), 5,000 distinct member names and 200 levels. Bodies may be compressed with gzip, deflate, br or zstd. Tokens and accounts can have limits on requests and tokens per minute, on open requests, and daily and monthly budgets; the headers \`X-RateLimit-…\` report the limits per minute.

Errors have the format of the caller's dialect. Once a stream has begun, an error is its last event.`,
}

export const healthTag: Tag = {
  name: 'Health',
  description: 'For monitoring the server. The responses have no envelope.',
}

export const modelsTag: Tag = {
  name: 'Models and billing',
  description: 'What a relay token can use and what it has left.',
}

/** The introduction of the document. */
export const introduction = `This document describes two APIs.

**Relay**, under \`/v1\` and \`/dashboard\`: OpenAI's API, called with a token that begins with \`sk-\`. An admin can append the number of
a channel, \`sk-…-7\`, to have that channel serve the call. Errors have OpenAI's format; their \`code\` does not change.

**Management**, under \`/api\`: responses are \`{"success": …, "message": …, "data": …}\`. Nearly all responses have status 200, even if the call is
refused, so check \`success\`. A caller is identified by the session cookie of a login or by an access token. Paths work with and without a
trailing slash. Times are seconds since 1970, quotas are whole numbers, and lists begin at page 0.`
