/** Answers of different kinds. The kinds differ in the positions at which a continuation can be appended. */
export const texts = {
  plain:
    'The bridge was opened in 1932, after nine years of work. Its two towers are 89 metres high, and the arch between them carries eight lanes, two railway tracks, a footway and a cycleway. On most days more than two hundred thousand people cross it, and on the days of the fair even more. Painting it takes so long that the painters never stop: when they have come to the end, they begin again at the beginning.',
  list: `Here is what you need:

1. Two eggs, at room temperature
2. 200 g of flour
3. 200 g of sugar
   - white, or
   - brown
4. A pinch of salt

Then:

* Beat the eggs and the sugar until the mixture is pale.
* Fold in the flour, and then the salt.
* Bake it at 180 °C for 25 minutes.

| Step | Minutes |
|------|---------|
| Mix  | 10      |
| Bake | 25      |
`,
  code: `\`\`\`ts
export function sum(values: readonly number[]): number {
    let total = 0
    for (const value of values) {
        if (Number.isNaN(value)) {
            throw new RangeError("not a number: \\"NaN\\"")
        }
        total += value
    }
    return total
}

test('an empty list', () => {
    expect(sum([])).toBe(0)
})
\`\`\`
`,
  cjk: '長江大橋於一九五七年建成，是長江上第一座鐵路公路兩用橋。橋身共有八墩九孔，每孔跨度為一百二十八米。大橋的建成，使京漢鐵路與粵漢鐵路連為一體。日本語の文章も続きます。東京から京都まで、新幹線なら約二時間で着きます。한국어 문장도 이어집니다. 서울에서 부산까지 두 시간 반이면 도착합니다.',
  emoji:
    'Status 🚦 of the launch 🚀: design ✅, code ✅, docs 📝 still open. Team 👩‍💻👨🏽‍🔧🧑‍🚀 meets at 9️⃣ in room 🏠. Flags 🇯🇵🇩🇪🇧🇷, hearts ❤️‍🔥💙, and a 𝒻𝒶𝓃𝒸𝓎 𠮷 word. All in all: 🎉🎊🥳 — see you 👋🏿!',
} as const

export type TextName = keyof typeof texts
export const textNames = Object.keys(texts) as TextName[]

/** `count` positions at which a text breaks off, including the first and the last possible position. */
export function cutsOf(text: string, count: number): number[] {
  const last = text.length - 1
  const cuts = Array.from({ length: count }, (_, index) => 1 + Math.round((index * (last - 1)) / (count - 1)))
  return [...new Set(cuts)]
}
