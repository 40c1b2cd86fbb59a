import { quotaToCurrency } from '../../contract/quota.ts'
import type { Settings } from '../settings/settings.ts'

/** Quota as the texts of logs and mails show it. */
export function quotaText(settings: Settings, quota: number): string {
  if (!settings.DisplayInCurrencyEnabled) return `${quota} points`
  return `${quotaToCurrency(quota, settings.QuotaPerUnit, 6)} quota`
}
