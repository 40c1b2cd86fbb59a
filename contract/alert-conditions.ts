/** The unit of a condition's threshold and of the values that are compared with it. */
export type AlertUnit = 'percent' | 'quota' | 'factor' | 'money' | 'seconds' | 'days' | 'none'

interface AlertCondition {
  /** Whether a rule with this condition watches the whole installation, or one user's own account. */
  for: 'installation' | 'own'
  unit: AlertUnit
  /** Whether the rule fires above or below its threshold. */
  fires: 'above' | 'below'
  /**
   * The default threshold of a new rule. Quota is given in dollars, because an option sets how many units are a dollar.
   */
  usual: number
  /** True if the condition is measured over the requests of the last minutes, and needs a minimum number of them. */
  requests?: true
  /** True if the rule can be restricted to one channel. */
  channel?: true
}

/** Every condition that a rule can have. */
export const alertConditions = {
  error_rate: { for: 'installation', unit: 'percent', fires: 'above', usual: 10, requests: true },
  channel_error_rate: {
    for: 'installation',
    unit: 'percent',
    fires: 'above',
    usual: 20,
    requests: true,
    channel: true,
  },
  channel_disabled: { for: 'installation', unit: 'none', fires: 'above', usual: 0, channel: true },
  daily_spend: { for: 'installation', unit: 'quota', fires: 'above', usual: 100 },
  user_spend_jump: { for: 'installation', unit: 'factor', fires: 'above', usual: 3 },
  upstream_balance: { for: 'installation', unit: 'money', fires: 'below', usual: 10, channel: true },
  price_held: { for: 'installation', unit: 'none', fires: 'above', usual: 0, channel: true },
  price_feed_failed: { for: 'installation', unit: 'none', fires: 'above', usual: 0, channel: true },
  channel_loss: { for: 'installation', unit: 'quota', fires: 'above', usual: 1, channel: true },
  first_byte_p95: { for: 'installation', unit: 'seconds', fires: 'above', usual: 10, requests: true },
  ledger_fault: { for: 'installation', unit: 'none', fires: 'above', usual: 0 },
  own_balance: { for: 'own', unit: 'quota', fires: 'below', usual: 5 },
  own_spend: { for: 'own', unit: 'quota', fires: 'above', usual: 10 },
  own_token_quota: { for: 'own', unit: 'quota', fires: 'below', usual: 1 },
  own_token_expiry: { for: 'own', unit: 'days', fires: 'below', usual: 7 },
  own_error_rate: { for: 'own', unit: 'percent', fires: 'above', usual: 10, requests: true },
} as const satisfies Readonly<Record<string, AlertCondition>>

export type AlertKind = keyof typeof alertConditions

/** All conditions, in the order in which they are offered. */
export const alertKinds = Object.keys(alertConditions) as [AlertKind, ...AlertKind[]]

/** The properties of a condition. Optional properties that it does not set are undefined. */
export function alertCondition(kind: AlertKind): AlertCondition {
  return alertConditions[kind]
}

/** The conditions available to rules of the installation, or to a user's own rules. */
export function alertKindsFor(whose: AlertCondition['for']): AlertKind[] {
  return alertKinds.filter((kind) => alertConditions[kind].for === whose)
}
