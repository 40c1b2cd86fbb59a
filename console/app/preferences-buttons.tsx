import { Languages, Monitor, Moon, Sun } from 'lucide-react'
import { IconButton } from '../components/ui/icon-button.tsx'
import { setLanguage, useLanguage, useText } from '../lib/text.ts'
import { setTheme, type Theme, useTheme } from '../lib/theme.ts'

const order: readonly Theme[] = ['system', 'light', 'dark']
const icons = { system: Monitor, light: Sun, dark: Moon }

/** Buttons for language and theme; each switches to the next value. */
export function PreferencesButtons() {
  const t = useText()
  const theme = useTheme()
  const language = useLanguage()
  const Icon = icons[theme]
  const next = order[(order.indexOf(theme) + 1) % order.length] ?? 'system'
  return (
    <>
      <button
        type="button"
        aria-label={`${t('app.language')}: ${language === 'zh' ? 'English' : '中文'}`}
        lang={language === 'zh' ? 'en' : 'zh-CN'}
        onClick={() => void setLanguage(language === 'zh' ? 'en' : 'zh')}
        className="inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-sm text-muted hover:bg-active hover:text-fg max-sm:h-10"
      >
        <Languages className="size-4" aria-hidden="true" />
        <span className="max-sm:hidden">{language === 'zh' ? 'English' : '中文'}</span>
      </button>
      <IconButton
        label={`${t('app.theme')}: ${t(`app.theme.${theme}`)}`}
        icon={<Icon />}
        onClick={() => setTheme(next)}
      />
    </>
  )
}
