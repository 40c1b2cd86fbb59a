import { familyOf } from '../../contract/model-families.ts'
import { markOf } from './mark-of.ts'

interface ProviderMarkProps {
  /** A provider, such as `OpenAI` or the label of a channel type. */
  name: string
  className?: string
}

/**
 * A tile with letters in a colour of the provider's own, beside its name. Logos are not used, because few of their
 * licences allow it. The letters are decoration: they are neither announced nor copied.
 */
export function ProviderMark({ name, className = '' }: ProviderMarkProps) {
  const { letters, hue } = markOf(name)
  return (
    <span
      aria-hidden="true"
      data-mark={letters}
      className={`provider-mark ${className}`}
      style={{ '--hue': hue } as React.CSSProperties}
    />
  )
}

/** The mark of the maker of a model, judged by the model's name. */
export function ModelMark({ model, className }: { model: string; className?: string }) {
  const { maker } = familyOf(model)
  return <ProviderMark name={maker || model} {...(className !== undefined && { className })} />
}
