import type { RawSearch } from '../../lib/url-query.ts'
import { oneOf, wholeNumber } from '../../lib/url-state.ts'

export const alertTabs = ['rules', 'destinations', 'history'] as const
export type AlertTab = (typeof alertTabs)[number]

/** The state of the page with alerts, stored in the URL. */
export interface AlertSearch {
  tab?: AlertTab | undefined
  /** For administrators: `own` shows their own alerts instead of those of the installation. */
  scope?: 'own' | undefined
  /** Page of the history, from 1. */
  at?: number | undefined
}

/** Reads the query of the page. */
export function parseAlertSearch(raw: RawSearch): AlertSearch {
  return {
    tab: oneOf(raw['tab'], alertTabs),
    scope: oneOf(raw['scope'], ['own'] as const),
    at: wholeNumber(raw['at'], 2),
  }
}
