import { Dialog } from '../components/ui/dialog.tsx'
import { Switch } from '../components/ui/switch.tsx'
import { SwitchRow } from '../components/ui/switch-row.tsx'
import { helpOpen } from '../lib/commands.ts'
import { setSingleKeys, useSingleKeys } from '../lib/single-keys.ts'
import { useText } from '../lib/text.ts'

const rows = [
  ['Ctrl K', 'keys.palette'],
  ['?', 'keys.help'],
  ['g …', 'keys.go'],
  ['/', 'keys.search'],
  ['j k', 'keys.rows'],
  ['Enter', 'keys.open'],
  ['x', 'keys.select'],
  ['e', 'keys.edit'],
  ['c', 'keys.copy'],
  ['n', 'keys.new'],
  ['[ ]', 'keys.pages'],
  ['Ctrl ↵', 'keys.submit'],
  ['Esc', 'keys.close'],
] as const

/** Every shortcut, and the switch that turns off single-key shortcuts. */
export function KeyHelp() {
  const t = useText()
  const on = useSingleKeys()
  return (
    <Dialog open onClose={() => helpOpen.set(false)} title={t('keys.title')}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
        {rows.map(([keys, message]) => (
          <div key={message} className="contents">
            <dt>
              <kbd className="rounded-sm border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs">{keys}</kbd>
            </dt>
            <dd>{t(message)}</dd>
          </div>
        ))}
      </dl>
      <div className="mt-4 border-t border-line pt-4">
        <SwitchRow label={t('keys.enabled')} hint={t('keys.enabledHint')}>
          {(ids) => <Switch {...ids} checked={on} onChange={(event) => setSingleKeys(event.target.checked)} />}
        </SwitchRow>
      </div>
    </Dialog>
  )
}
