/** The letters and hue (0 to 360) of well-known providers. The first pattern that matches applies. */
const known: readonly (readonly [name: RegExp, letters: string, hue: number])[] = [
  [/azure/i, 'Az', 240],
  [/openai max/i, 'OM', 290],
  [/openai-sb/i, 'SB', 60],
  [/openai compatible/i, 'OC', 200],
  [/openrouter/i, 'OR', 275],
  [/^openai/i, 'O', 165],
  [/anthropic|claude/i, 'A', 45],
  [/vertex/i, 'V', 250],
  [/palm/i, 'P', 75],
  [/google|gemini/i, 'G', 255],
  [/xai|grok/i, 'X', 320],
  [/deepseek/i, 'D', 270],
  [/^(ali|alibaba)|qwen/i, 'Q', 300],
  [/zhipu|chatglm/i, 'Z', 225],
  [/moonshot|kimi/i, 'K', 285],
  [/minimax/i, 'M', 10],
  [/mistral/i, 'Mi', 55],
  [/meta|llama/i, 'L', 245],
  [/cohere/i, 'Co', 20],
  [/perplexity/i, 'Px', 195],
  [/baidu|ernie/i, 'B', 260],
  [/tencent|hunyuan/i, 'T', 215],
  [/bytedance|doubao|volcengine/i, 'By', 230],
  [/xunfei|iflytek|spark/i, 'S', 205],
  [/^(aws|amazon)/i, 'Aw', 70],
  [/groq/i, 'Gq', 35],
  [/together/i, 'To', 185],
  [/fireworks/i, 'F', 310],
  [/nvidia/i, 'N', 135],
  [/microsoft/i, 'Ms', 220],
  [/cloudflare/i, 'Cf', 50],
  [/ollama/i, 'Ol', 110],
  [/hugging/i, 'H', 90],
  [/custom|^proxy/i, 'C', 340],
]

/** Hues for other names. They are far enough apart to be distinguishable. */
const hues = [0, 30, 60, 100, 140, 180, 210, 240, 270, 300, 330]

/** The first letters of up to two words. */
function initials(name: string): string {
  const words = name.split(/[\s._-]+/).filter((word) => /^[\p{L}\p{N}]/u.test(word))
  return words
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase()
}

/** The letters and the hue of a provider's mark. They depend only on the name. */
export function markOf(name: string): { letters: string; hue: number } {
  const row = known.find(([pattern]) => pattern.test(name))
  if (row) return { letters: row[1], hue: row[2] }
  const sum = [...name].reduce((total, letter) => (total * 31 + (letter.codePointAt(0) ?? 0)) % 9973, 7)
  return { letters: initials(name) || '·', hue: hues[sum % hues.length] ?? 0 }
}
