import * as z from 'zod/mini'
import { text, trimmedText } from './fields.ts'

/** The maximum number of headers, parameters, statuses and tags of one channel. */
export const maxCarried = { headers: 30, parameters: 50, statuses: 50, tags: 20 } as const

export const parameterOperations = ['set', 'default', 'cap', 'drop'] as const

/** One change to the body of every request that a channel sends. */
export const parameterSchema = z.strictObject({
  op: z
    .enum(parameterOperations)
    .check(
      z.describe(
        'set: replaces the value. default: sets the value if the request has none. cap: lowers a number that is larger than the value. drop: removes the parameter.',
      ),
    ),
  path: trimmedText(200).check(
    z.describe(
      'Name of the parameter in the request that is sent upstream. Dots separate the names of nested fields, as in `provider.order`.',
    ),
  ),
  value: z.optional(z.unknown().check(z.describe('Any JSON value. For cap, a number; for drop, absent.'))),
})

export type ParameterOperation = z.output<typeof parameterSchema>

/** True if the name of a header suggests that its value is secret. Such values can be written but not read. */
export function isSecretHeader(name: string): boolean {
  return /auth|token|key|secret|password|credential|bypass|session/i.test(name)
}

const atMost = (most: number) =>
  z.refine((value) => Object.keys(value as object).length <= most, { error: `may have at most ${most} entries` })

const headers = z.record(z.string(), text(2000)).check(atMost(maxCarried.headers))
const statuses = z.record(z.string(), z.int()).check(atMost(maxCarried.statuses))
const parameters = z.array(parameterSchema).check(atMost(maxCarried.parameters))
const tags = z.array(trimmedText(40)).check(atMost(maxCarried.tags))

const about = {
  tags: 'Labels to find the channel by.',
  remark: 'A note for admins.',
  test_model: 'The model that tests use; empty means the first suitable model.',
  organization: 'Sent in the header `OpenAI-Organization`; empty means that the header is not sent.',
  project: 'Sent in the header `OpenAI-Project`; empty means that the header is not sent.',
  parameters:
    'Changes to the body of every request. They are made in order, after the body was translated for the upstream.',
  status_map:
    'Maps error statuses of the upstream to other statuses (400 to 599). The gateway treats the error as if the upstream had sent the other status, for retries, too.',
  proxy: 'URL of an HTTP or HTTPS proxy for all calls of this channel; empty means none.',
} as const

/** A channel's labels, and what the channel adds to its requests besides the key, as the API shows them. */
export const shownCarries = {
  tags: z.array(z.string()).check(z.describe(about.tags)),
  remark: z.string().check(z.describe(about.remark)),
  test_model: z.string().check(z.describe(about.test_model)),
  organization: z.string().check(z.describe(about.organization)),
  project: z.string().check(z.describe(about.project)),
  headers: z
    .record(z.string(), z.string())
    .check(
      z.describe(
        'Headers added to every request. They replace headers of the same name. Values of headers whose names contain words such as token, key, auth or secret are shown as empty texts.',
      ),
    ),
  parameters: z.array(parameterSchema).check(z.describe(about.parameters)),
  status_map: z.record(z.string(), z.int()).check(z.describe(about.status_map)),
  proxy: z.string().check(z.describe(about.proxy)),
  proxy_has_login: z.boolean().check(z.describe('Whether the channel has a name and password for its proxy.')),
}

/** The fields of `shownCarries` in the form in which an admin writes them. Absent fields stay unchanged. */
export const writtenCarries = {
  tags: z.optional(tags.check(z.describe(about.tags))),
  remark: z.optional(text(1000).check(z.describe(about.remark))),
  test_model: z.optional(trimmedText(200).check(z.describe(about.test_model))),
  organization: z.optional(trimmedText(200).check(z.describe(about.organization))),
  project: z.optional(trimmedText(200).check(z.describe(about.project))),
  headers: z.optional(
    headers.check(
      z.describe(
        'Headers added to every request. They replace all current headers of the channel. If the name of a header contains a word such as token, key, auth or secret, an empty value keeps the stored value.',
      ),
    ),
  ),
  parameters: z.optional(parameters.check(z.describe(about.parameters))),
  status_map: z.optional(statuses.check(z.describe(about.status_map))),
  proxy: z.optional(trimmedText(300).check(z.describe(about.proxy))),
  proxy_login: z.optional(
    text(500).check(
      z.describe(
        'Name and password for the proxy, as `name:password`. They are never shown. An empty text keeps the stored ones, unless the proxy is removed.',
      ),
    ),
  ),
}

const { tags: _tags, remark: _remark, ...probed } = writtenCarries

/** The subset of fields that determines how the upstream is called. Tests of unsaved channels use it. */
export const probedCarries = probed

const written = z.object(writtenCarries)

/** The fields as an admin sends them. */
export type WrittenCarries = z.output<typeof written>
