import { Languages, Monitor, Moon, Sun } from 'lucide-react'
import { IconButton } from '../components/ui/icon-button.tsx'
import { languageCodes, languages, type PlainLanguage } from '../lib/languages.ts'
import { setLanguage, useLanguage, useText } from '../lib/text.ts'
import { setTheme, type Theme, useTheme } from '../lib/theme.ts'

const order: readonly Theme[] = ['system', 'light', 'dark']
const icons = { system: Monitor, light: Sun, dark: Moon }

/**
 * A select box for the language, and a button that switches to the next theme. The select box is the browser's own
 * control: it needs no additional script on the pages before the login, and its list opens above a dialog, too.
 */
export function PreferencesButtons() {
  const t = useText()
  const theme = useTheme()
  const language = useLanguage()
  const Icon = icons[theme]
  const next = order[(order.indexOf(theme) + 1) % order.length] ?? 'system'
  return (
    <>
      <label
        data-verbatim
        className="relative inline-flex h-7 shrink-0 items-center justify-center gap-1.5 rounded-md px-2 text-sm text-muted hover:bg-active hover:text-fg has-focus-visible:outline-2 has-focus-visible:outline-ring max-sm:size-10 max-sm:px-0"
      >
        <Languages className="size-4" aria-hidden="true" />
        <span className="max-sm:hidden" aria-hidden="true">
          {languages[language].name}
        </span>
        <select
          aria-label={t('app.language.switch')}
          title={t('app.language.switch')}
          value={language}
          onChange={({ target }) => void setLanguage(target.value as PlainLanguage)}
          className="absolute inset-0 cursor-pointer bg-raised text-fg opacity-0"
        >
          {languageCodes.map((code) => (
            <option key={code} value={code} lang={languages[code].tag}>
              {languages[code].name}
            </option>
          ))}
        </select>
      </label>
      <IconButton
        label={`${t('app.theme')}: ${t(`app.theme.${theme}`)}`}
        icon={<Icon />}
        onClick={() => setTheme(next)}
      />
    </>
  )
}
