import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { markOf } from './mark-of.ts'

/** The relative luminance of a colour in OKLCH (CSS Color 4, and WCAG 2.2 for the luminance). */
function luminance(l: number, c: number, hue: number): number {
  const angle = (hue * Math.PI) / 180
  const [a, b] = [c * Math.cos(angle), c * Math.sin(angle)]
  const [long, middle, short] = [
    (l + 0.3963377774 * a + 0.2158037573 * b) ** 3,
    (l - 0.1055613458 * a - 0.0638541728 * b) ** 3,
    (l - 0.0894841775 * a - 1.291485548 * b) ** 3,
  ]
  const rgb = [
    4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short,
  ].map((part) => Math.max(0, Math.min(1, part)))
  return 0.2126 * (rgb[0] ?? 0) + 0.7152 * (rgb[1] ?? 0) + 0.0722 * (rgb[2] ?? 0)
}

test('the letters of every mark have a contrast of at least 4.5 in both themes', () => {
  const styles = readFileSync(join(import.meta.dir, '../styles/marks.css'), 'utf8')
  const colors = [...styles.matchAll(/oklch\(([\d.]+) ([\d.]+) var/g)].map(
    ([, l, c]) => [Number(l), Number(c)] as const,
  )
  expect(colors).toHaveLength(4)
  const [lightGround, darkGround, lightLetters, darkLetters] = colors
  for (let hue = 0; hue < 360; hue += 5) {
    for (const [ground, letters] of [
      [lightGround, lightLetters],
      [darkGround, darkLetters],
    ]) {
      const [one, two] = [ground, letters].map((color) => luminance(...(color ?? [0, 0]), hue))
      const [bright, dim] = [Math.max(one ?? 0, two ?? 0), Math.min(one ?? 0, two ?? 0)]
      expect((bright + 0.05) / (dim + 0.05)).toBeGreaterThan(4.5)
    }
  }
})

test('a mark depends only on the name', () => {
  expect(markOf('OpenAI')).toEqual({ letters: 'O', hue: 165 })
  expect(markOf('Anthropic Claude').letters).toBe('A')
  expect(markOf('Black Forest Labs').letters).toBe('BF')
  expect(markOf('Black Forest Labs')).toEqual(markOf('Black Forest Labs'))
  expect(markOf('').letters).toBe('·')
})
