import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { mayAccess } from '../../../contract/roles.ts'
import { useTries } from '../../components/form/new-try.ts'
import { CallError } from '../../lib/call.ts'
import { useSessionUser } from '../../lib/session.ts'
import { text, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { type Drafts, isChanged, type Option, problemOf, sentValue } from './drafts.ts'
import { optionName } from './option-names.ts'
import { afterSaving, optionsQuery, saveOption } from './queries.ts'

/** The options and their unsaved values, which are kept when the user switches tabs. */
export interface OptionForm {
  /** Loading state of the options. */
  state: 'loading' | 'failed' | 'ready'
  error: Error | null
  asking: boolean
  retry(): void
  options: readonly Option[]
  drafts: Drafts
  /** Problems found in the last attempt to save, by key. */
  problems: Drafts
  /** Keys of options that the running save has already saved. */
  done: readonly string[]
  changed: readonly Option[]
  busy: boolean
  find(key: string): Option | undefined
  /** The value shown in an option's box. */
  shown(option: Option): string
  /** Sets the text of an option's box; undefined discards the text. */
  type(key: string, draft: string | undefined): void
  discard(): void
  /** Saves all changes, or only the changes of these keys. */
  save(keys?: readonly string[]): Promise<void>
  mayWrite(option: Option): boolean
}

/** Holds the page's option form; the options are loaded while `enabled` is true. */
export function useOptionForm(enabled: boolean): OptionForm {
  const t = useText()
  const user = useSessionUser()
  // All displayed values are read here, because the page's components mount later and could miss a change.
  const { data, error, isFetching, refetch } = useQuery({ ...optionsQuery, enabled })
  const newTry = useTries()
  const [drafts, setDrafts] = useState<Drafts>({})
  const [problems, setProblems] = useState<Drafts>({})
  const [done, setDone] = useState<readonly string[]>([])
  const [busy, setBusy] = useState(false)
  const options = data ?? []
  const changed = options.filter((option) => done.includes(option.key) || isChanged(option, drafts[option.key]))

  const save = async (keys?: readonly string[]) => {
    newTry()
    setBusy(true)
    const wanted = changed.filter(({ key }) => keys === undefined || keys.includes(key))
    const result = await saveAll(wanted, drafts, (key) => setDone((before) => [...before, key]))
    setDrafts((now) => without(now, result.saved))
    setProblems(result.failed)
    setDone([])
    setBusy(false)
    const failed = Object.keys(result.failed).length
    if (failed === 0) toast.success(t('done.ok'))
    else if (result.saved.length > 0) toast.info(t('setting.saved.some', { saved: result.saved.length, failed }))
    await afterSaving(result.saved)
  }
  return {
    state: data ? 'ready' : error ? 'failed' : 'loading',
    error,
    asking: isFetching,
    retry: () => void refetch(),
    options,
    drafts,
    problems,
    done,
    changed,
    busy,
    find: (key) => options.find((option) => option.key === key),
    shown: (option) => drafts[option.key] ?? option.value,
    type(key, draft) {
      setDrafts((now) => (draft === undefined ? without(now, [key]) : { ...now, [key]: draft }))
      setProblems((now) => without(now, [key]))
    },
    discard() {
      setDrafts({})
      setProblems({})
    },
    save,
    mayWrite: (option) => mayAccess(user?.role ?? 0, option.writer),
  }
}

/**
 * Saves the changed options one after the other, with one call per option. A failure does not stop the remaining calls.
 */
async function saveAll(changed: readonly Option[], drafts: Drafts, onSaved: (key: string) => void) {
  const saved: string[] = []
  const failed: Record<string, string> = {}
  for (const option of changed) {
    const draft = drafts[option.key] ?? ''
    const problem = problemOf(option, draft, optionName(option))
    if (problem !== undefined) {
      failed[option.key] = problem
      toast.error(option.kind === 'json' ? problem : text('form.problem', { field: optionName(option), problem }))
      continue
    }
    try {
      await saveOption(option.key, sentValue(option, draft))
      saved.push(option.key)
      onSaved(option.key)
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      failed[option.key] = error.message
    }
  }
  return { saved, failed }
}

function without(drafts: Drafts, keys: readonly string[]): Drafts {
  return Object.fromEntries(Object.entries(drafts).filter(([key]) => !keys.includes(key)))
}
