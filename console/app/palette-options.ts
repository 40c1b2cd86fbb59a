import { useEffect, useState } from 'react'
import type { Command } from '../lib/commands.ts'
import { loadAreas, text, textByKey } from '../lib/text.ts'

const tabOf = { operations: 'operation', system: 'system', other: 'other' } as const

/** Opens an option in the settings. */
type Go = (tab: string, option: string) => void

/**
 * For administrators: a command for each option, with the option's name. The options are loaded when the palette is
 * first opened.
 */
export function useOptionCommands(wanted: boolean, go: Go): readonly Command[] {
  const [commands, setCommands] = useState<readonly Command[]>([])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the options do not change, so they are loaded once
  useEffect(() => {
    if (!wanted) return
    let gone = false
    Promise.all([
      import('../../contract/options.ts'),
      import('../../contract/option-sections.ts'),
      loadAreas(['option']),
    ]).then(
      ([{ optionDefinitions }, { optionSections }]) => {
        if (gone) return
        setCommands(
          Object.entries(optionDefinitions).map(([key, { section }]) => ({
            id: `option ${key}`,
            group: text('menu.setting'),
            label: textByKey(`option.${key}`) ?? key,
            words: key,
            run: () => go(tabOf[optionSections[section].tab], key),
          })),
        )
      },
      // If the options fail to load, the palette still offers everything else.
      () => undefined,
    )
    return () => {
      gone = true
    }
  }, [wanted])
  return commands
}
