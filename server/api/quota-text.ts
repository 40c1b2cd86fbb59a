import { quotaToCurrency } from '../../contract/quota.ts'
import type { Settings } from '../settings/settings.ts'

/** Quota as shown in the texts of logs and emails. */
export function quotaText(settings: Settings, quota: number): string {
  if (!settings.DisplayInCurrencyEnabled) return `${quota} points`
  return `${quotaToCurrency(quota, settings.QuotaPerUnit, 6)} quota`
}
