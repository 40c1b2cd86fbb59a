import { useId } from 'react'
import type { Control, FieldPath, FieldValues } from 'react-hook-form'
import * as z from 'zod/mini'
import { useFormatQuota } from '../../lib/format.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { NumberField, QuotaField } from './number-field.tsx'

/** Limits of a token or a user; 0 = no limit. Budgets are in quota units. */
export interface LimitValues {
  rpm_limit: number
  tpm_limit: number
  concurrency_limit: number
  daily_budget: number
  monthly_budget: number
}

const limit = z.int().check(z.gte(0), z.lte(1e15))

/** Validation rules of the limit fields. */
export const limitRules = {
  rpm_limit: limit,
  tpm_limit: limit,
  concurrency_limit: limit,
  daily_budget: limit,
  monthly_budget: limit,
}

/** The limits of an existing token or user. For a new one, all limits are 0. */
export function limitValues(from?: Partial<LimitValues>): LimitValues {
  return {
    rpm_limit: from?.rpm_limit ?? 0,
    tpm_limit: from?.tpm_limit ?? 0,
    concurrency_limit: from?.concurrency_limit ?? 0,
    daily_budget: from?.daily_budget ?? 0,
    monthly_budget: from?.monthly_budget ?? 0,
  }
}

interface LimitFieldsProps<T extends FieldValues> {
  control: Control<T>
  /** Amounts spent in the current day and month, in quota units. */
  spent?: { spent_today: number; spent_month: number } | undefined
}

/** The fields for limits, as a group in a form. Renders nothing if the server does not support limits. */
export function LimitFields<T extends FieldValues>({ control, spent }: LimitFieldsProps<T>) {
  const t = useText()
  const id = useId()
  const classic = useClassicServer()
  const formatQuota = useFormatQuota()
  const at = (name: keyof LimitValues) => name as string as FieldPath<T>
  const used = (quota: number | undefined) =>
    quota === undefined ? {} : { hint: t('form.limits.spent', { quota: formatQuota(quota) }) }
  if (classic) return null
  return (
    <fieldset aria-describedby={id} className="flex min-w-0 flex-col gap-5 border-t border-line pt-4">
      <legend className="float-left w-full text-base font-medium">{t('form.limits')}</legend>
      <p id={id} className="-mt-4 text-sm text-muted">
        {t('form.limits.hint')}
      </p>
      <div className="grid gap-5 sm:grid-cols-3">
        <NumberField control={control} name={at('rpm_limit')} label={t('form.limits.rpm')} min={0} step={1} />
        <NumberField control={control} name={at('tpm_limit')} label={t('form.limits.tpm')} min={0} step={1} />
        <NumberField
          control={control}
          name={at('concurrency_limit')}
          label={t('form.limits.concurrency')}
          min={0}
          step={1}
        />
      </div>
      <div className="grid gap-5 sm:grid-cols-2">
        <QuotaField
          control={control}
          name={at('daily_budget')}
          label={t('form.limits.daily')}
          min={0}
          presets={false}
          {...used(spent?.spent_today)}
        />
        <QuotaField
          control={control}
          name={at('monthly_budget')}
          label={t('form.limits.monthly')}
          min={0}
          presets={false}
          {...used(spent?.spent_month)}
        />
      </div>
    </fieldset>
  )
}
