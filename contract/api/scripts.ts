/** Alphabets whose letters can be mistaken for letters of another alphabet. */
const lookalikes = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Cherokee',
  'Coptic',
  'Georgian',
  'Lisu',
  'Tifinagh',
  'Glagolitic',
  'Deseret',
  'Osage',
  'Gothic',
  'Old_Italic',
].map((script) => new RegExp(`\\p{Script=${script}}`, 'u'))

/** True if a name mixes letters of several of these alphabets, because such a name can imitate another one. */
export function mixesAlphabets(name: string): boolean {
  return lookalikes.filter((script) => script.test(name)).length > 1
}

/**
 * Lower-case Cyrillic and Greek letters, each with the Latin letter that it looks like (from Unicode's table of
 * confusables).
 */
const latin: ReadonlyMap<string, string> = new Map(
  Object.entries({
    а: 'a',
    в: 'b',
    с: 'c',
    ԁ: 'd',
    е: 'e',
    ё: 'e',
    ғ: 'f',
    һ: 'h',
    і: 'i',
    ї: 'i',
    ј: 'j',
    к: 'k',
    ӏ: 'l',
    м: 'm',
    н: 'h',
    п: 'n',
    о: 'o',
    р: 'p',
    ԛ: 'q',
    г: 'r',
    ѕ: 's',
    т: 't',
    у: 'y',
    ѵ: 'v',
    ԝ: 'w',
    х: 'x',
    з: '3',
    б: '6',
    ч: '4',
    α: 'a',
    β: 'b',
    ε: 'e',
    η: 'n',
    ι: 'i',
    κ: 'k',
    ν: 'v',
    ο: 'o',
    ρ: 'p',
    σ: 'o',
    τ: 't',
    υ: 'u',
    χ: 'x',
    ω: 'w',
    γ: 'y',
  }),
)

/** The Latin name that a name in another alphabet looks like; undefined if it does not look like one. */
export function latinLookalike(name: string): string | undefined {
  let latinName = ''
  let isForeign = false
  for (const letter of name.toLowerCase()) {
    const like = latin.get(letter)
    isForeign ||= like !== undefined
    if (like === undefined && !/[a-z\d_.-]/.test(letter)) return undefined
    latinName += like ?? letter
  }
  return isForeign ? latinName : undefined
}
