import type { api } from '../../../contract/api/index.ts'
import type { Tag } from './types.ts'

/** The groups of the management API, as the document names them. */
export const groupTags: Readonly<Record<keyof typeof api, Tag>> = {
  status: { name: 'Status', description: 'What everybody may know about this server.' },
  auth: {
    name: 'Login',
    description:
      'Logging in and out, registering, and passwords that were forgotten. Codes and links work once, within ten minutes, and are dead after five wrong tries.',
  },
  oauth: { name: 'Outside logins', description: 'Login by other services, and binding them to an account.' },
  user: { name: 'Users', description: 'The own account, and for admins those of others with lower roles.' },
  token: { name: 'Tokens', description: 'The own sk- keys. Those of others do not exist here, for admins neither.' },
  channel: { name: 'Channels', description: 'The upstreams. Their keys go in and never come out.' },
  log: { name: 'Logs', description: 'Calls and what they cost.' },
  usage: { name: 'Usage', description: 'Sums of calls over time.' },
  option: { name: 'Options', description: 'Settings that change while the server runs.' },
  group: { name: 'Groups', description: 'Classes of users; a group exists by having a ratio.' },
  price: { name: 'Prices', description: 'What models cost those who call them.' },
  audit: { name: 'Audit trail', description: 'Who changed what.' },
  redemption: { name: 'Redemption codes', description: 'Codes that become quota, and topping up.' },
  docs: { name: 'This document', description: 'The API as a document, for programs and for people.' },
}

export const relayTag: Tag = {
  name: 'Relay',
  description:
    "Calls that are passed on to a channel and charged. Requests and answers are OpenAI's; fields that are not named here pass on unchanged.",
}

export const healthTag: Tag = {
  name: 'Health',
  description: 'For whatever watches over the server. The answers have no envelope.',
}

export const modelsTag: Tag = {
  name: 'Models and billing',
  description: 'What a relay token may use and what it has left.',
}

/** The first lines of the document. */
export const introduction = `Two APIs in one.

**Relay**, under \`/v1\` and \`/dashboard\`: OpenAI's API, called with a token that begins with \`sk-\`. An admin may append the number of
a channel, \`sk-…-7\`, to have that channel serve the call. Errors have OpenAI's shape; their \`code\` does not change.

**Management**, under \`/api\`: answers are \`{"success": …, "message": …, "data": …}\`, nearly all with status 200, also when they refuse:
look at \`success\`. A caller is known by the session cookie of a login or by an access token. Paths work with and without their final
slash. Times are seconds since 1970, quota is whole numbers, lists begin at page 0.`
