import type { RawSearch } from '../../lib/url-query.ts'
import { type ListSearch, oneOf, parseListSearch, someText, wholeNumber } from '../../lib/url-state.ts'

export const settingTabs = ['personal', 'operation', 'system', 'other', 'audit'] as const
export type SettingTab = (typeof settingTabs)[number]

/**
 * The state of the settings, stored in the URL: the tab and, for the audit log, its list and filters. `q` searches
 * the settings.
 */
export interface SettingSearch extends ListSearch {
  /** The selected tab; omitted for the first tab. */
  tab?: SettingTab | undefined
  actor?: string | undefined
  action?: string | undefined
  /** With `1`, only options that differ from their defaults are shown. */
  changed?: string | undefined
  /** Time range in epoch seconds. */
  from?: number | undefined
  to?: number | undefined
}

/** Reads the query of the settings. */
export function parseSettingSearch(raw: RawSearch): SettingSearch {
  return {
    ...parseListSearch(raw),
    tab: oneOf(raw['tab'], settingTabs),
    actor: someText(raw['actor']?.trim()),
    action: someText(raw['action']),
    changed: oneOf(raw['changed'], ['1']),
    from: wholeNumber(raw['from']),
    to: wholeNumber(raw['to']),
  }
}
