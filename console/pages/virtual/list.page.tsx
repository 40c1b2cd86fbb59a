import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Pencil, Plus, Trash2 } from 'lucide-react'
import type { VirtualModel } from '../../../contract/api/virtual-model.ts'
import { deleteQuestion } from '../../components/data-table/delete-question.ts'
import { Groups } from '../../components/groups.tsx'
import { Badge } from '../../components/ui/badge.tsx'
import { buttonClass } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { EmptyState, ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { Switch } from '../../components/ui/switch.tsx'
import { type Question, useConfirm } from '../../components/ui/use-confirm.tsx'
import { useClassicServer } from '../../lib/status.ts'
import { text, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { toastWithUndo } from '../../lib/undo.ts'
import { removeVirtualModel, switchVirtualModel, virtualModelsQuery } from './queries.ts'
import { Warnings } from './warnings.tsx'

/** `/virtual-model`: the virtual models with their steps. */
export function VirtualModelsPage() {
  const t = useText()
  const classic = useClassicServer()
  const add = (
    <Link to="/virtual-model/add" className={buttonClass({ look: 'primary' })}>
      <Plus aria-hidden="true" />
      {t('virtual.add')}
    </Link>
  )
  return (
    <Page title={t('virtual.title')} text={t('virtual.intro')} actions={classic ? undefined : add}>
      {classic ? (
        <Card>
          <EmptyState title={t('virtual.classic')} />
        </Card>
      ) : (
        <Models />
      )}
    </Page>
  )
}

function Models() {
  const t = useText()
  const [ask, question] = useConfirm()
  const models = useQuery(virtualModelsQuery)
  if (models.isError && !models.data)
    return (
      <ErrorState
        title={t('virtual.error.list')}
        text={models.error.message}
        onRetry={() => void models.refetch()}
        busy={models.isFetching}
      />
    )
  if (!models.data) return <RowsSkeleton className="h-72" />
  if (models.data.length === 0)
    return (
      <Card>
        <EmptyState title={t('virtual.empty')} text={t('virtual.empty.text')} />
      </Card>
    )
  return (
    <>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
        {models.data.map((model) => (
          <ModelRow key={model.id} model={model} ask={ask} />
        ))}
      </ul>
      {question}
    </>
  )
}

async function toggle(model: VirtualModel): Promise<void> {
  const { name, enabled } = model
  await switchVirtualModel(model, !enabled)
  toastWithUndo(text(enabled ? 'virtual.off' : 'virtual.on', { name }), () => switchVirtualModel(model, enabled))
}

function ModelRow({ model, ask }: { model: VirtualModel; ask(question: Question): void }) {
  const t = useText()
  const { id, name, description, steps, groups, price, enabled } = model
  const remove = () =>
    ask(
      deleteQuestion(t, {
        name,
        text: t('virtual.delete.text'),
        remove: () => removeVirtualModel(model).then(() => toast.success(t('virtual.deleted'))),
      }),
    )
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3">
      <div className="flex min-w-0 flex-1 basis-64 flex-col gap-1">
        <h2 className="font-medium break-words">{name}</h2>
        {description !== '' && <p className="text-sm break-words text-muted">{description}</p>}
        <p className="text-sm break-words">
          <span className="sr-only">{t('virtual.steps')}: </span>
          {steps.map((step) => step.model).join(' → ')}
        </p>
        <div className="flex flex-wrap gap-1.5 pt-0.5">
          {price !== null && <Badge>{t('virtual.fixedPrice')}</Badge>}
          {groups.length > 0 && <Groups group={groups} />}
        </div>
        <Warnings warnings={model.warnings} />
      </div>
      <div className="flex items-center gap-1.5">
        <Switch
          checked={enabled}
          aria-label={t('virtual.switch', { name })}
          // If the call fails, it shows its own error.
          onChange={() => void toggle(model).catch(() => undefined)}
        />
        <Link
          to="/virtual-model/edit/$id"
          params={{ id: String(id) }}
          aria-label={`${t('do.edit')}: ${name}`}
          title={t('do.edit')}
          className={buttonClass({ look: 'quiet', className: 'size-7 px-0! max-sm:size-10' })}
        >
          <Pencil aria-hidden="true" />
        </Link>
        <IconButton label={`${t('do.delete')}: ${name}`} icon={<Trash2 />} onClick={remove} />
      </div>
    </li>
  )
}
