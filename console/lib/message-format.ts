/** A message as compiled by the build: a text, or a sequence of texts and placeholders. */
export type Message = string | readonly Part[]
type Part = string | readonly [name: string, kind?: string, forms?: Readonly<Record<string, Message>>]

/** The values of a message's placeholders. */
export type MessageValues = Readonly<Record<string, string | number>>

const formats = new Map<string, { number: Intl.NumberFormat; plural: Intl.PluralRules }>()

function formatsOf(tag: string) {
  let found = formats.get(tag)
  if (!found) {
    found = { number: new Intl.NumberFormat(tag), plural: new Intl.PluralRules(tag) }
    formats.set(tag, found)
  }
  return found
}

/**
 * Inserts values into a compiled message. It supports plain placeholders, `number` and `plural`. In the forms of a
 * plural, `#` is the number. `tag` is the language's BCP 47 tag.
 */
export function formatMessage(message: Message, tag: string, values: MessageValues = {}, count?: number): string {
  if (typeof message === 'string') return message
  const number = (value: number) => formatsOf(tag).number.format(value)
  const texts = message.map((part) => {
    if (typeof part === 'string') return part === '#' && count !== undefined ? number(count) : part
    const [name, kind, forms = {}] = part
    const value = values[name] ?? ''
    if (kind === 'plural') {
      const amount = Number(value)
      const form = forms[amount] ?? forms[formatsOf(tag).plural.select(amount)] ?? forms['other'] ?? ''
      return formatMessage(form, tag, values, amount)
    }
    return kind === 'number' ? number(Number(value)) : value
  })
  return texts.join('')
}
