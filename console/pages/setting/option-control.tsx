import { Suspense } from 'react'
import { quotaToAmount } from '../../../contract/quota.ts'
import { DollarBox } from '../../components/form/quota-box.tsx'
import { Input, inputClass, Textarea } from '../../components/ui/input.tsx'
import { Select } from '../../components/ui/select.tsx'
import { RowsSkeleton } from '../../components/ui/states.tsx'
import { quotaPerUnit, showsCurrency, useFormatQuota } from '../../lib/format.ts'
import { lazy } from '../../lib/lazy.ts'
import { useText } from '../../lib/text.ts'
import type { ControlProps } from './control-props.ts'
import { DomainChips } from './domain-chips.tsx'
import type { Option } from './drafts.ts'
import { prettyJson } from './json-text.ts'
import { choiceName, unitName } from './option-names.ts'
import { tableKindOf } from './option-tables.ts'
import { PageText } from './page-text.tsx'

const TableControl = lazy(() => import('./table-control.tsx').then((it) => ({ default: it.TableControl })))

const pageTexts = ['Footer', 'Notice', 'About', 'HomePageContent']

/**
 * The control of an option that is saved together with the others. The kind of the option determines the control; a few
 * options have their own.
 */
export function OptionControl(props: ControlProps) {
  const { option, form, id, describedBy, invalid, disabled } = props
  const stored = form.shown(option)
  const value = option.kind === 'json' && form.drafts[option.key] === undefined ? prettyJson(stored) : stored
  const shared = { id, disabled, 'aria-describedby': describedBy, 'aria-invalid': invalid || undefined }
  const type = (draft: string) => form.type(option.key, draft)
  if (pageTexts.includes(option.key)) return <PageText {...props} />
  const tableKind = tableKindOf(option.key)
  switch (option.kind) {
    case 'choice':
      return (
        <Select {...shared} value={value} onChange={(event) => type(event.target.value)}>
          {option.choices?.map((choice) => (
            <option key={choice} value={choice}>
              {choiceName(option.key, choice)}
            </option>
          ))}
        </Select>
      )
    case 'list':
      return <DomainChips {...props} />
    case 'json':
      return tableKind ? (
        <Suspense fallback={<RowsSkeleton className="h-24" />}>
          <TableControl {...props} kind={tableKind} />
        </Suspense>
      ) : (
        <Textarea
          {...shared}
          rows={Math.min(12, Math.max(2, value.split('\n').length + 1))}
          spellCheck={false}
          className="font-mono text-sm!"
          value={value}
          onChange={(event) => type(event.target.value)}
        />
      )
    case 'integer':
    case 'number':
      return isAmount(option) && showsCurrency() ? <AmountControl {...props} /> : <NumberControl {...props} />
    default:
      return (
        <>
          <Input
            {...shared}
            type={option.key === 'Logo' ? 'url' : 'text'}
            value={value}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => type(event.target.value)}
          />
          {option.key === 'Logo' && <LogoPreview address={value} />}
        </>
      )
  }
}

/** Whether the option is an amount of quota. QuotaPerUnit is not: it is the rate at which amounts are converted. */
const isAmount = ({ unit, key }: Option) => unit === 'quota' && key !== 'QuotaPerUnit'

/** An amount of quota, typed in dollars. The option and the message about a mistake are in quota units. */
function AmountControl({ option, form, id, describedBy, invalid, disabled }: ControlProps) {
  const draft = form.shown(option)
  return (
    <DollarBox
      id={id}
      value={draft === '' ? undefined : Number(draft)}
      onChange={(quota) => form.type(option.key, quota === undefined ? '' : String(quota))}
      placeholder={quotaToAmount(Number(option.default), quotaPerUnit())}
      disabled={disabled}
      invalid={Boolean(invalid)}
      describedBy={describedBy}
    />
  )
}

/** Step sizes for the arrows of number boxes. */
const steps: Readonly<Record<string, number>> = { QuotaPerUnit: 0.01, RetryTimes: 1 }

function NumberControl({ option, form, id, describedBy, invalid, disabled }: ControlProps) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const value = form.shown(option)
  const unit = option.unit && unitName(option.unit)
  const worth = isAmount(option) && value !== '' && Number.isFinite(Number(value))
  return (
    <>
      <div className="relative">
        <input
          id={id}
          type="number"
          min={option.min}
          max={option.max}
          step={steps[option.key] ?? (option.kind === 'integer' ? 1 : 'any')}
          value={value}
          placeholder={option.default}
          disabled={disabled}
          aria-describedby={worth ? `${describedBy} ${id}-worth` : describedBy}
          aria-invalid={invalid || undefined}
          onChange={(event) => form.type(option.key, event.target.value)}
          className={`${inputClass} num ${unit ? 'pr-20' : ''}`}
        />
        {unit && (
          <span className="pointer-events-none absolute inset-y-0 right-3 flex items-center text-sm text-muted">
            {unit}
          </span>
        )}
      </div>
      {worth && (
        <p id={`${id}-worth`} className="num mt-1 text-sm text-muted">
          {t('form.quota.worth', { amount: formatQuota(Number(value)) })}
        </p>
      )}
    </>
  )
}

function LogoPreview({ address }: { address: string }) {
  const t = useText()
  if (!/^(?:https?:\/\/|\/(?!\/)|data:image\/)/.test(address)) return null
  return (
    <img
      src={address}
      alt={t('setting.preview.logo')}
      height={40}
      className="mt-2 h-10 max-w-full rounded-sm border border-line object-contain"
    />
  )
}
