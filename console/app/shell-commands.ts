import { useNavigate } from '@tanstack/react-router'
import { useCommands } from '../lib/commands.ts'
import { languageCodes, languages } from '../lib/languages.ts'
import { setLanguage, text } from '../lib/text.ts'
import { setTheme, type Theme } from '../lib/theme.ts'
import type { MenuEntry } from './menu.ts'

const themes: readonly Theme[] = ['light', 'dark', 'system']

/** The commands that the palette offers on every page: pages, themes and languages. */
export function useShellCommands(entries: readonly MenuEntry[]): void {
  const navigate = useNavigate()
  useCommands(() => [
    ...entries.map((entry) => ({
      id: `page ${entry.to}`,
      group: text('palette.pages'),
      label: text(entry.text),
      ...(entry.key !== undefined && { keys: `g ${entry.key}` }),
      run: () => void navigate({ to: entry.to }),
    })),
    ...themes.map((theme) => ({
      id: `theme ${theme}`,
      group: text('palette.appearance'),
      label: text('palette.theme', { theme: text(`app.theme.${theme}`) }),
      run: () => setTheme(theme),
    })),
    ...languageCodes.map((language) => ({
      id: `language ${language}`,
      group: text('palette.appearance'),
      label: text('palette.language', { language: languages[language].name }),
      words: 'language 语言 言語',
      run: () => void setLanguage(language),
    })),
  ])
}
