/** The sections of the settings page in order, each with its tab and its heading. */
export const optionSections = {
  login: { tab: 'system', title: 'Login and registration' },
  'code-hosting': { tab: 'system', title: 'GitHub login' },
  wechat: { tab: 'system', title: 'WeChat login' },
  'bot-check': { tab: 'system', title: 'Bot protection' },
  mail: { tab: 'system', title: 'Email' },
  address: { tab: 'system', title: 'Server URL' },
  pages: { tab: 'other', title: 'Name and pages' },
  updates: { tab: 'other', title: 'Updates' },
  general: { tab: 'operations', title: 'General' },
  quota: { tab: 'operations', title: 'Quota' },
  ratios: { tab: 'operations', title: 'Prices' },
  monitoring: { tab: 'operations', title: 'Monitoring' },
  relay: { tab: 'operations', title: 'Requests' },
  logs: { tab: 'operations', title: 'Logs and privacy' },
  recording: { tab: 'operations', title: 'Recording' },
  backup: { tab: 'system', title: 'Backups' },
  'log-copy': { tab: 'system', title: 'Copy of the log' },
  storage: { tab: 'system', title: 'Object storage' },
} as const satisfies Record<string, { tab: 'operations' | 'system' | 'other'; title: string }>

export type OptionSection = keyof typeof optionSections
