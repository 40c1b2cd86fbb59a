import { Button } from '../../components/ui/button.tsx'
import { Card } from '../../components/ui/page.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { Switch } from '../../components/ui/switch.tsx'
import { SwitchRow } from '../../components/ui/switch-row.tsx'
import { helpOpen } from '../../lib/commands.ts'
import { languageCodes, languages } from '../../lib/languages.ts'
import { setDensity, useDensity } from '../../lib/preferences.ts'
import { setSingleKeys, useSingleKeys } from '../../lib/single-keys.ts'
import { setLanguage, useLanguage, useText } from '../../lib/text.ts'
import { setTheme, useTheme } from '../../lib/theme.ts'

/** Theme, language, row height and shortcuts; stored in this browser. */
export function Preferences() {
  const t = useText()
  const theme = useTheme()
  const language = useLanguage()
  const density = useDensity()
  const keys = useSingleKeys()
  return (
    <Card
      title={t('setting.look')}
      actions={
        <Button size="small" onClick={() => helpOpen.set(true)}>
          {t('setting.look.allKeys')}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <Line name={t('app.theme')}>
          <Segmented
            label={t('app.theme')}
            value={theme}
            onChange={setTheme}
            options={(['light', 'dark', 'system'] as const).map((value) => ({ value, label: t(`app.theme.${value}`) }))}
          />
        </Line>
        <Line name={t('app.language')}>
          <div data-verbatim>
            <Segmented
              label={t('app.language')}
              value={language}
              onChange={(next) => void setLanguage(next)}
              options={languageCodes.map((value) => ({ value, label: languages[value].name }))}
            />
          </div>
        </Line>
        <Line name={t('setting.look.density')}>
          <Segmented
            label={t('setting.look.density')}
            value={density}
            onChange={setDensity}
            options={(['comfortable', 'compact'] as const).map((value) => ({
              value,
              label: t(`setting.look.${value}`),
            }))}
          />
        </Line>
        <SwitchRow label={t('setting.look.keys')} hint={t('setting.look.keys.hint')}>
          {(ids) => <Switch {...ids} checked={keys} onChange={(event) => setSingleKeys(event.target.checked)} />}
        </SwitchRow>
      </div>
    </Card>
  )
}

function Line({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-2">
      <span className="text-sm font-medium">{name}</span>
      {children}
    </div>
  )
}
