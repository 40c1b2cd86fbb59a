import { expect } from 'bun:test'
import { channelSchema } from '../../../contract/api/channel.ts'
import { logSchema } from '../../../contract/api/log.ts'
import { redemptionSchema } from '../../../contract/api/redemption.ts'
import { statusSchema } from '../../../contract/api/status.ts'
import { tokenSchema } from '../../../contract/api/token.ts'
import { userSchema } from '../../../contract/api/user.ts'

type Kind = 'number' | 'text' | 'boolean' | 'empty text' | 'text or null'

/** Fields that one-api clients use, with their types. Other fields may be present only if the contract lists them. */
const shapes = {
  status: {
    known: {
      version: 'text',
      start_time: 'number',
      email_verification: 'boolean',
      github_oauth: 'boolean',
      github_client_id: 'text',
      system_name: 'text',
      logo: 'text',
      footer_html: 'text',
      wechat_qrcode: 'text',
      wechat_login: 'boolean',
      server_address: 'text',
      turnstile_check: 'boolean',
      turnstile_site_key: 'text',
      top_up_link: 'text',
      chat_link: 'text',
      quota_per_unit: 'number',
      display_in_currency: 'boolean',
    },
    ours: statusSchema.shape,
  },
  user: {
    known: {
      id: 'number',
      username: 'text',
      password: 'empty text',
      display_name: 'text',
      role: 'number',
      status: 'number',
      email: 'text',
      github_id: 'text',
      wechat_id: 'text',
      verification_code: 'empty text',
      access_token: 'empty text',
      quota: 'number',
      used_quota: 'number',
      request_count: 'number',
      group: 'text',
      aff_code: 'text',
      inviter_id: 'number',
    },
    ours: userSchema.shape,
  },
  token: {
    known: {
      id: 'number',
      user_id: 'number',
      key: 'text',
      status: 'number',
      name: 'text',
      created_time: 'number',
      accessed_time: 'number',
      expired_time: 'number',
      remain_quota: 'number',
      unlimited_quota: 'boolean',
      used_quota: 'number',
      models: 'text or null',
      subnet: 'text or null',
    },
    ours: tokenSchema.shape,
  },
  channel: {
    known: {
      id: 'number',
      type: 'number',
      key: 'empty text',
      status: 'number',
      name: 'text',
      weight: 'number',
      created_time: 'number',
      test_time: 'number',
      response_time: 'number',
      base_url: 'text',
      other: 'text',
      balance: 'number',
      balance_updated_time: 'number',
      models: 'text',
      group: 'text',
      used_quota: 'number',
      model_mapping: 'text',
      priority: 'number',
    },
    ours: channelSchema.shape,
  },
  redemption: {
    known: {
      id: 'number',
      user_id: 'number',
      key: 'text',
      status: 'number',
      name: 'text',
      quota: 'number',
      created_time: 'number',
      redeemed_time: 'number',
      count: 'number',
    },
    ours: redemptionSchema.shape,
  },
  log: {
    known: {
      id: 'number',
      user_id: 'number',
      created_at: 'number',
      type: 'number',
      content: 'text',
      username: 'text',
      token_name: 'text',
      model_name: 'text',
      quota: 'number',
      prompt_tokens: 'number',
      completion_tokens: 'number',
    },
    ours: logSchema.shape,
  },
} as const satisfies Record<string, { known: Record<string, Kind>; ours: object }>

function fits(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    case 'text':
      return typeof value === 'string'
    case 'empty text':
      return value === ''
    case 'text or null':
      return value === null || typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
  }
}

/**
 * Checks that a record has every field that clients know, with the right type, and no field that is missing from the
 * contract.
 */
export function expectRecord(name: keyof typeof shapes, value: unknown): void {
  const { known, ours } = shapes[name]
  const record = value as Record<string, unknown>
  const wrong = Object.entries(known).filter(([field, kind]) => !fits(record[field], kind))
  expect([name, wrong.map(([field, kind]) => `${field} is ${JSON.stringify(record[field])}, not ${kind}`)]).toEqual([
    name,
    [],
  ])
  expect([name, Object.keys(record).filter((field) => !Object.hasOwn(ours, field))]).toEqual([name, []])
}

/** Checks a page of a list: at most ten records, newest first. */
export function expectPage(name: keyof typeof shapes, value: unknown): void {
  expect([name, Array.isArray(value)]).toEqual([name, true])
  const list = value as { id: number }[]
  expect(list.length).toBeLessThanOrEqual(10)
  for (const record of list) expectRecord(name, record)
  const ids = list.map(({ id }) => id)
  expect(ids).toEqual([...ids].sort((a, b) => b - a))
}
