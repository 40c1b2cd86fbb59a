import { useQuery } from '@tanstack/react-query'
import { Braces, Check, FileText, Pencil, Trash2 } from 'lucide-react'
import { useId, useState } from 'react'
import { Drawer } from '../../components/ui/drawer.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { Switch } from '../../components/ui/switch.tsx'
import { SwitchRow } from '../../components/ui/switch-row.tsx'
import { useConfirm } from '../../components/ui/use-confirm.tsx'
import { formatRelative } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { exportKept } from './kept-export.ts'
import { deleteKept, type KeptBody, type KeptHead, listKept, readKept, renameKept } from './kept-store.ts'
import { type Kept, keptKey } from './use-kept.ts'

interface KeptDrawerProps {
  kept: Kept
  onOpen(head: KeptHead, body: KeptBody): void
  /** Called when the shown conversation was deleted. */
  onGone(): void
  onClose(): void
}

/** The list of kept conversations, and the switch that turns keeping on or off. */
export function KeptDrawer({ kept, onOpen, onGone, onClose }: KeptDrawerProps) {
  const t = useText()
  const [ask, question] = useConfirm()
  const list = useQuery({ queryKey: keptKey(kept.user), queryFn: () => listKept(kept.user), enabled: kept.isOn })
  const heads = list.data ?? []
  /** Runs an action on a conversation, and shows an error if the browser's storage fails. */
  const act = (run: () => Promise<unknown>) =>
    void run()
      .then(() => list.refetch())
      .catch(() => toast.error(t('playground.kept.failed')))
  const withBody = (head: KeptHead, use: (body: KeptBody) => void) =>
    act(async () => {
      const body = await readKept(head.id)
      if (body) use(body)
    })
  const askToDelete = (head: KeptHead) =>
    ask({
      title: t('playground.kept.delete.title', { title: head.title }),
      confirm: t('do.delete'),
      danger: true,
      onConfirm: async () => {
        await deleteKept([head.id])
        await list.refetch()
        if (head.id === kept.shown) onGone()
      },
    })
  const toggle = (on: boolean) => {
    if (on) kept.turnOn()
    else if (heads.length === 0) act(kept.turnOff)
    else
      ask({
        title: t('playground.kept.off.title'),
        text: t('playground.kept.off.text', { count: heads.length }),
        confirm: t('playground.kept.off.do'),
        danger: true,
        onConfirm: kept.turnOff,
      })
  }
  return (
    <Drawer open onClose={onClose} title={t('playground.kept')}>
      <SwitchRow label={t('playground.kept.switch')} hint={t('playground.kept.hint')}>
        {(ids) => <Switch {...ids} checked={kept.isOn} onChange={({ target }) => toggle(target.checked)} />}
      </SwitchRow>
      {kept.isOn && list.isError && <p className="text-sm text-bad">{t('playground.kept.failed')}</p>}
      {kept.isOn && list.isSuccess && heads.length === 0 && <EmptyState title={t('playground.kept.none')} />}
      {kept.isOn && heads.length > 0 && (
        <ul className="-mx-2 flex flex-col gap-1">
          {heads.map((head) => (
            <Row
              key={head.id}
              head={head}
              isShown={head.id === kept.shown}
              onOpen={() => withBody(head, (body) => onOpen(head, body))}
              onRename={(title) => act(() => renameKept(head, title))}
              onExport={(format) => withBody(head, (body) => exportKept(head, body, format))}
              onDelete={() => askToDelete(head)}
            />
          ))}
        </ul>
      )}
      {question}
    </Drawer>
  )
}

interface RowProps {
  head: KeptHead
  isShown: boolean
  onOpen(): void
  onRename(title: string): void
  onExport(format: 'md' | 'json'): void
  onDelete(): void
}

function Row({ head, isShown, onOpen, onRename, onExport, onDelete }: RowProps) {
  const t = useText()
  const [name, setName] = useState<string>()
  const { title } = head
  if (name !== undefined) {
    return <NameForm name={name} setName={setName} onSave={(next) => next !== title && onRename(next)} />
  }
  return (
    <li className={`flex items-center gap-1 rounded-md pr-1 ${isShown ? 'bg-active' : 'hover:bg-hover'}`}>
      <button
        type="button"
        aria-current={isShown || undefined}
        className="min-w-0 flex-1 rounded-md px-2 py-1.5 text-start"
        onClick={onOpen}
      >
        <span className="block truncate text-sm font-medium" data-verbatim>
          {title}
        </span>
        <span className="block truncate text-xs text-muted">
          {formatRelative(head.changedAt / 1000)} · {head.models.join(', ')}
        </span>
      </button>
      <IconButton label={t('playground.kept.rename', { title })} icon={<Pencil />} onClick={() => setName(title)} />
      <IconButton
        label={t('playground.kept.export.md', { title })}
        icon={<FileText />}
        onClick={() => onExport('md')}
      />
      <IconButton
        label={t('playground.kept.export.json', { title })}
        icon={<Braces />}
        onClick={() => onExport('json')}
      />
      <IconButton label={t('playground.kept.delete', { title })} icon={<Trash2 />} onClick={onDelete} />
    </li>
  )
}

interface NameFormProps {
  name: string
  /** Called with undefined to stop renaming. */
  setName(name: string | undefined): void
  onSave(name: string): void
}

const longestTitle = 100

function NameForm({ name, setName, onSave }: NameFormProps) {
  const t = useText()
  const id = useId()
  return (
    <li>
      <form
        className="flex items-center gap-1 px-2 py-1.5"
        onSubmit={(event) => {
          event.preventDefault()
          if (name.trim() === '') return
          onSave(name.trim())
          setName(undefined)
        }}
      >
        <label htmlFor={id} className="sr-only">
          {t('playground.kept.name')}
        </label>
        <Input
          id={id}
          autoFocus
          autoComplete="off"
          maxLength={longestTitle}
          value={name}
          onChange={(event) => setName(event.target.value)}
          onFocus={(event) => event.target.select()}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            event.stopPropagation()
            setName(undefined)
          }}
        />
        <IconButton type="submit" label={t('do.save')} icon={<Check />} disabled={name.trim() === ''} />
      </form>
    </li>
  )
}
