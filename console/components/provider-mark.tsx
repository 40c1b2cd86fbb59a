import { familyOf } from '../../contract/model-families.ts'
import { markOf } from './mark-of.ts'

interface ProviderMarkProps {
  /** A provider, such as `OpenAI` or the label of a channel type. */
  name: string
  className?: string
}

/**
 * A tile with letters in the provider's own colour, beside its name. Logos are not used, because few of their licences
 * allow it. The letters are decoration, so they are neither announced nor copied.
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

/** The mark of a model's maker, which is derived from the model's name. */
export function ModelMark({ model, className }: { model: string; className?: string }) {
  const { maker } = familyOf(model)
  return <ProviderMark name={maker || model} {...(className !== undefined && { className })} />
}
