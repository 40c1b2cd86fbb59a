import { useQuery } from '@tanstack/react-query'
import { Pencil, Plus, Trash2 } from 'lucide-react'
import type { AlertDestination, AlertRule } from '../../../contract/api/alert.ts'
import { deleteQuestion } from '../../components/data-table/delete-question.ts'
import { Badge, Status } from '../../components/ui/badge.tsx'
import { Button } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { EmptyState, ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { Switch } from '../../components/ui/switch.tsx'
import { type Question, useConfirm } from '../../components/ui/use-confirm.tsx'
import { formatRelative, formatTime } from '../../lib/format.ts'
import { text, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { toastWithUndo } from '../../lib/undo.ts'
import { type AlertScope, destinationsQuery, removeRule, rulesQuery, switchRule } from './queries.ts'
import { type RuleDraft, readyRules, usualThreshold } from './rule-values.ts'
import { conditionText } from './words.ts'

interface RulesProps {
  scope: AlertScope
  onEdit(draft: RuleDraft): void
}

/** The rules with their states or, while there are none, suggested rules. */
export function Rules({ scope, onEdit }: RulesProps) {
  const t = useText()
  const [ask, question] = useConfirm()
  const rules = useQuery(rulesQuery(scope))
  const destinations = useQuery(destinationsQuery(scope))
  if (rules.isError && !rules.data)
    return (
      <ErrorState
        title={t('alert.error.rules')}
        text={rules.error.message}
        onRetry={() => void rules.refetch()}
        busy={rules.isFetching}
      />
    )
  if (!rules.data) return <RowsSkeleton className="h-72" />
  if (rules.data.length === 0) return <ReadyRules scope={scope} onUse={onEdit} />
  return (
    <>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
        {rules.data.map((rule) => (
          <RuleRow key={rule.id} {...{ scope, rule, ask, onEdit }} destinations={destinations.data ?? []} />
        ))}
      </ul>
      {question}
    </>
  )
}

interface RowProps extends RulesProps {
  rule: AlertRule
  destinations: readonly AlertDestination[]
  ask(question: Question): void
}

async function toggle(scope: AlertScope, rule: AlertRule): Promise<void> {
  const { name, enabled } = rule
  await switchRule(scope, rule, !enabled)
  toastWithUndo(text(enabled ? 'alert.rule.off' : 'alert.rule.on', { name }), () => switchRule(scope, rule, enabled))
}

function RuleRow({ scope, rule, destinations, ask, onEdit }: RowProps) {
  const t = useText()
  const chosen = destinations.filter(({ id }) => rule.destinations.includes(id))
  const remove = () =>
    ask(
      deleteQuestion(t, {
        name: rule.name,
        text: t('alert.rule.delete.text'),
        remove: () => removeRule(scope, rule).then(() => toast.success(t('alert.rule.deleted'))),
      }),
    )
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3">
      <div className="w-full pt-0.5 text-sm sm:w-24">
        <RuleState rule={rule} />
      </div>
      <div className="flex min-w-0 flex-1 basis-52 flex-col gap-1">
        <h2 className="font-medium break-words">{rule.name}</h2>
        <p className="text-sm break-words text-muted">{conditionText(t, rule)}</p>
        {rule.firing.slice(0, 5).map(({ target, name, since }) => (
          <p key={target} className="text-sm break-words text-bad" title={formatTime(since)}>
            {name === ''
              ? t('alert.firing.one', { time: formatRelative(since) })
              : t('alert.firing.of', { name, time: formatRelative(since) })}
          </p>
        ))}
        {rule.destinations.length === 0 ? (
          <p className="text-sm text-warn">{t('alert.noDestination')}</p>
        ) : (
          <p className="flex flex-wrap gap-1.5 pt-0.5">
            {chosen.map(({ id, name, kind }) => (
              <Badge key={id} title={t(`alert.kindOf.${kind}`)}>
                {name}
              </Badge>
            ))}
          </p>
        )}
      </div>
      <div className="flex items-center gap-1.5">
        <Switch
          checked={rule.enabled}
          aria-label={t('alert.rule.switch', { name: rule.name })}
          // If the call fails, it shows its own error.
          onChange={() => void toggle(scope, rule).catch(() => undefined)}
        />
        <IconButton label={`${t('do.edit')}: ${rule.name}`} icon={<Pencil />} onClick={() => onEdit(rule)} />
        <IconButton label={`${t('do.delete')}: ${rule.name}`} icon={<Trash2 />} onClick={remove} />
      </div>
    </li>
  )
}

function RuleState({ rule }: { rule: AlertRule }) {
  const t = useText()
  if (!rule.enabled) return <Status color="grey">{t('alert.state.off')}</Status>
  return rule.firing.length > 0 ? (
    <Status color="red">{t('alert.state.firing')}</Status>
  ) : (
    <Status color="green">{t('alert.state.ok')}</Status>
  )
}

/** Suggestions: three rules that most people want. */
function ReadyRules({ scope, onUse }: { scope: AlertScope; onUse(draft: RuleDraft): void }) {
  const t = useText()
  return (
    <div className="rounded-lg border border-line bg-surface">
      <div className="-mb-8">
        <EmptyState title={t('alert.empty')} text={t('alert.empty.text')} />
      </div>
      <ul className="grid gap-3 p-4 md:grid-cols-3">
        {readyRules[scope].map((kind) => {
          const draft = { kind, name: t(`alert.kind.${kind}`), threshold: usualThreshold(kind) }
          return (
            <li key={kind} className="flex flex-col items-start gap-1 rounded-md border border-line p-4">
              <h2 className="font-medium">{draft.name}</h2>
              <p className="mb-3 flex-1 text-sm text-muted">
                {conditionText(t, { ...draft, minutes: 10, min_calls: 20, channel_id: 0 })}
              </p>
              <Button
                icon={<Plus />}
                aria-label={`${t('alert.ready.use')}: ${draft.name}`}
                onClick={() => onUse(draft)}
              >
                {t('alert.ready.use')}
              </Button>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
