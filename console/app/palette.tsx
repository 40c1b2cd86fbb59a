import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useMemo, useState } from 'react'
import { ProviderMark } from '../components/provider-mark.tsx'
import { dotMark } from '../components/ui/badge.tsx'
import { backdropClass } from '../components/ui/dialog.tsx'
import { allCommands, type Command, paletteOpen } from '../lib/commands.ts'
import { storedNames } from '../lib/preferences.ts'
import { isAdmin, useSessionUser } from '../lib/session.ts'
import { writeStored } from '../lib/storage.ts'
import { type Text, useText } from '../lib/text.ts'
import { matching } from './palette-match.ts'
import { useOptionCommands } from './palette-options.ts'
import { useThings } from './palette-search.ts'
import { tasksOf } from './palette-tasks.ts'

interface Group {
  value: string
  items: Command[]
}

function grouped(commands: readonly Command[]): Group[] {
  const groups = new Map<string, Command[]>()
  for (const command of commands) groups.set(command.group, [...(groups.get(command.group) ?? []), command])
  return [...groups].map(([value, items]) => ({ value, items }))
}

const recentKey = 'ui.recent'
const recentMost = 5

function remember(id: string): void {
  const before = (storedNames(recentKey) ?? []).filter((each) => each !== id)
  writeStored(recentKey, JSON.stringify([id, ...before].slice(0, recentMost)))
}

/** The commands that were used most recently. */
function recentOf(commands: readonly Command[]): Command[] {
  return (storedNames(recentKey) ?? []).flatMap((id) => commands.find((command) => command.id === id) ?? [])
}

const isPage = ({ id }: Command) => id.startsWith('page ')
const isAppearance = ({ id }: Command) => /^(?:theme|language) /.test(id)

interface Offered {
  /** The current page's own commands, and those for pages, themes and languages. */
  registered: readonly Command[]
  tasks: readonly Command[]
  options: readonly Command[]
  found: readonly Command[]
}

/**
 * The commands in the order of their groups: commands of the current page, recent commands, search results, tasks,
 * pages, options, and finally appearance. Because there are so many options, they are offered only once text is typed.
 * If the text begins with `>`, only actions are offered.
 */
function ordered({ registered, tasks, options, found }: Offered, typed: string, t: Text): Command[] {
  const isOnlyActions = typed.startsWith('>')
  const words = isOnlyActions ? typed.slice(1) : typed
  const pages = registered.filter(isPage)
  const appearance = registered.filter(isAppearance)
  const here = registered
    .filter((command) => !isPage(command) && !isAppearance(command))
    .map((command) => ({ ...command, group: t('palette.here') }))
  if (isOnlyActions) return [here, tasks, appearance].flatMap((each) => matching(each, words))
  const known = [...here, ...tasks, ...pages, ...(words.trim() === '' ? [] : options), ...appearance]
  const recent = recentOf(known)
  const rest = (commands: readonly Command[]) => commands.filter((command) => !recent.includes(command))
  const headed = recent.map((command) => ({ ...command, group: t('palette.recent') }))
  const isTyped = words.trim() !== ''
  return [rest(here), headed, found, rest(tasks), rest(pages), isTyped ? rest(options) : [], rest(appearance)].flatMap(
    (each) => (each === found ? [...each] : matching(each, words)),
  )
}

const itemClass =
  'flex min-h-9 py-1 cursor-default items-center gap-3 rounded-md px-2.5 text-sm outline-none select-none data-highlighted:bg-active'

/** The palette for searching and for commands. It is operated by typing, the arrow keys and Enter. */
export function Palette() {
  const t = useText()
  const [typed, setTyped] = useState('')
  const user = useSessionUser()
  const navigate = useNavigate()
  const options = useOptionCommands(
    isAdmin(user),
    (tab, hash) => void navigate({ to: '/setting', search: { tab } as never, hash }),
  )
  const things = useThings(typed, user, ({ to, search }) => void navigate({ to, search: (search ?? {}) as never }))
  const registered = useMemo(() => allCommands(), [])
  const groups = useMemo(() => {
    const tasks = tasksOf(user, (to) => void navigate({ to }))
    return grouped(ordered({ registered, tasks, options, found: things }, typed, t))
  }, [t, user, navigate, options, things, typed, registered])
  const close = () => paletteOpen.set(false)
  const run = (command: Command) => {
    close()
    if (!things.some(({ id }) => id === command.id)) remember(command.id)
    command.run()
  }
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={backdropClass} />
        <Dialog.Viewport className="fixed inset-0 z-50 flex items-start justify-center p-4 pt-[12dvh]">
          <Dialog.Popup
            aria-label={t('palette.title')}
            className="ui-popup flex max-h-[70dvh] w-full max-w-xl flex-col overflow-hidden rounded-xl"
          >
            <Autocomplete.Root
              open
              inline
              items={groups}
              value={typed}
              onValueChange={setTyped}
              // The groups are already filtered and sorted.
              filter={null}
              autoHighlight="always"
              keepHighlight
              itemToStringValue={(command: Command) => `${command.label} ${command.words ?? ''}`}
            >
              <div className="flex items-center gap-2.5 border-b border-line px-4">
                <Search className="size-4 shrink-0 text-muted" aria-hidden="true" />
                <Autocomplete.Input
                  aria-label={t('palette.title')}
                  placeholder={t('palette.placeholder')}
                  className="h-12 w-full bg-transparent text-lg text-ellipsis outline-none"
                />
              </div>
              <Autocomplete.Empty className="text-sm text-muted">
                <p className="px-4 py-8 text-center">{t('palette.none')}</p>
              </Autocomplete.Empty>
              <Autocomplete.List className="min-h-0 flex-1 overflow-y-auto p-1.5 data-empty:hidden">
                {(group: Group) => (
                  <Autocomplete.Group key={group.value} items={group.items} className="pb-1.5">
                    <Autocomplete.GroupLabel className="px-2.5 py-1 text-xs text-muted">
                      {group.value}
                    </Autocomplete.GroupLabel>
                    <Autocomplete.Collection>
                      {(command: Command) => (
                        <Autocomplete.Item
                          key={command.id}
                          value={command}
                          className={itemClass}
                          onClick={() => run(command)}
                        >
                          {command.provider !== undefined && <ProviderMark name={command.provider} />}
                          <span className="min-w-0 flex-1">
                            <span className="block truncate">{command.label}</span>
                            {command.detail !== undefined && (
                              <span className="flex items-center gap-1.5 text-xs text-muted">
                                {command.dot && (
                                  <span
                                    className={`size-1.5 shrink-0 rounded-full ${dotMark[command.dot]}`}
                                    aria-hidden="true"
                                  />
                                )}
                                <span className="truncate">{command.detail}</span>
                              </span>
                            )}
                          </span>
                          {command.keys !== undefined && (
                            <kbd className="font-mono text-xs text-muted">{command.keys}</kbd>
                          )}
                        </Autocomplete.Item>
                      )}
                    </Autocomplete.Collection>
                  </Autocomplete.Group>
                )}
              </Autocomplete.List>
            </Autocomplete.Root>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
