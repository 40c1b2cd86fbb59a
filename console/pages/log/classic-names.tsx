import { useEffect, useState } from 'react'
import { NameBox } from '../../components/data-table/name-box.tsx'
import { Button } from '../../components/ui/button.tsx'
import type { FacetSearch } from '../../lib/facet-search.ts'
import { classicNames, isFor } from '../../lib/facets.ts'
import { useText } from '../../lib/text.ts'

interface ClassicNamesProps {
  search: FacetSearch
  everybody: boolean
  onChange(patch: FacetSearch): void
}

type Typed = Record<(typeof classicNames)[number], string>

/**
 * Text filters for servers that accept only one value per filter. They are applied on Enter or when the button is
 * pressed.
 */
export function ClassicNames({ search, everybody, onChange }: ClassicNamesProps) {
  const t = useText()
  const [typed, setTyped] = useState(() => textsOf(search))
  useEffect(() => setTyped(textsOf(search)), [search])
  return (
    <form
      className="contents"
      onSubmit={(event) => {
        event.preventDefault()
        onChange(Object.fromEntries(classicNames.map((name) => [name, typed[name].trim() || undefined])))
      }}
    >
      {classicNames
        .filter((name) => isFor(everybody, name))
        .map((name) => (
          <NameBox
            key={name}
            of={name === 'channel' ? undefined : name}
            label={t(`log.filter.${name}`)}
            value={typed[name]}
            onChange={(value) => setTyped({ ...typed, [name]: value })}
          />
        ))}
      <Button type="submit">{t('log.filter.query')}</Button>
    </form>
  )
}

function textsOf({ token = '', model = '', user = '', channel = '' }: FacetSearch): Typed {
  return { token, model, user, channel }
}
