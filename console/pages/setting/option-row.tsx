import { Lock } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { useText } from '../../lib/text.ts'
import type { ControlProps } from './control-props.ts'
import { differsFromDefault, isChanged, type Option } from './drafts.ts'
import { OptionControl } from './option-control.tsx'
import { choiceName, optionHint, optionName, unitName } from './option-names.ts'
import { SecretControl } from './secret-control.tsx'
import { SwitchControl } from './switch-control.tsx'
import type { OptionForm } from './use-option-form.ts'

/** Options that are edited in the tables of the ratio editor. */
const inRatioEditor = ['ModelRatio', 'CompletionRatio', 'GroupRatio']
/** Options whose controls are shown as wide as the page allows. */
const wide = ['Footer', 'Notice', 'About', 'HomePageContent', 'EmailDomainWhitelist']

/** One option: its name, its description, its control, any problem, and who may change it. */
export function OptionRow({ option, form, inEditor }: { option: Option; form: OptionForm; inEditor: boolean }) {
  const t = useText()
  const id = useId()
  if (inEditor && inRatioEditor.includes(option.key)) return null
  const problem = form.problems[option.key]
  const locked = !form.mayWrite(option)
  const changed = isChanged(option, form.drafts[option.key])
  const describedBy = [`${id}-hint`, locked && `${id}-lock`, problem !== undefined && `${id}-problem`]
  const control: ControlProps = {
    option,
    form,
    id,
    describedBy: describedBy.filter(Boolean).join(' '),
    invalid: problem !== undefined,
    disabled: locked,
  }
  const isSwitch = option.kind === 'boolean'
  const isWide = option.kind === 'json' || wide.includes(option.key)
  return (
    <div
      id={option.key}
      data-changed={changed || undefined}
      className={`scroll-mt-18 py-4 target:bg-tint ${changed ? '-mx-4 border-l-2 border-l-accent px-4 pl-3.5' : ''}`}
    >
      <div
        className={
          isWide
            ? 'flex flex-col gap-2'
            : `flex justify-between gap-x-6 gap-y-2 ${isSwitch ? 'items-start' : 'max-sm:flex-col'}`
        }
      >
        <div className="min-w-0 sm:max-w-md">
          <label htmlFor={id} className="text-sm font-medium">
            {optionName(option)}
          </label>
          {differsFromDefault(option) && (
            <span
              role="img"
              aria-label={t('setting.changed')}
              title={t('setting.changed')}
              className="ml-1.5 inline-block size-1.5 rounded-full bg-accent align-middle"
            />
          )}
          <p id={`${id}-hint`} className="text-sm text-muted">
            {optionHint(option)} <Default option={option} form={form} locked={locked} />
          </p>
          {locked && (
            <p id={`${id}-lock`} className="mt-0.5 flex items-center gap-1.5 text-sm text-muted">
              <Lock className="size-3.5 shrink-0" aria-hidden="true" />
              {t('setting.locked')}
            </p>
          )}
        </div>
        <div className={isSwitch ? 'shrink-0' : isWide ? '' : 'w-full shrink-0 sm:w-80'}>
          <Control {...control} />
          {problem !== undefined && (
            <p id={`${id}-problem`} className="mt-1 text-sm break-words text-bad">
              {problem}
            </p>
          )}
        </div>
      </div>
    </div>
  )
}

function Control(props: ControlProps) {
  if (props.option.secret) return <SecretControl {...props} />
  return props.option.kind === 'boolean' ? <SwitchControl {...props} /> : <OptionControl {...props} />
}

/** The default, and a button to restore it; long and empty defaults are not shown. */
function Default({ option, form, locked }: { option: Option; form: OptionForm; locked: boolean }): ReactNode {
  const t = useText()
  const { key, kind, secret } = option
  const differs = form.shown(option) !== option.default
  if (secret || kind === 'boolean' || kind === 'json' || option.default === '') return null
  const value = kind === 'choice' ? choiceName(key, option.default) : option.default
  const unit = option.unit === undefined ? '' : ` ${unitName(option.unit)}`
  return (
    <>
      {kind !== 'list' && <span className="break-words">{t('setting.default', { value: `${value}${unit}` })}</span>}{' '}
      {differs && !locked && (
        <button
          type="button"
          className="text-link underline"
          aria-label={t('setting.default.use.of', { name: optionName(option) })}
          onClick={() => form.type(key, option.default)}
        >
          {t('setting.default.use')}
        </button>
      )}
    </>
  )
}
