import type { MediaTokens } from '../neutral/dialect.ts'

/**
 * 20 a second (OpenAI's pricing of sound), at the 48,000 bytes that a second of pcm16 has, the one form of its streams. Of
 * compressed sound nobody knows the length by its bytes: it counts for less.
 */
const audioTokensPerByte = 20 / 48_000
/** An image of 1024×1024 by Google's models (Gemini API, "Image generation"); what others have can be more. */
const tokensPerImage = 1_290

/** Counts the sound and the images of an answer as they come. */
export class MediaCounter {
  /** Undefined while there is none. */
  tokens: MediaTokens | undefined
  #audioBytes = 0
  #images = 0

  /** Adds a piece of sound, as base64. */
  addSound(base64: string): void {
    if (base64 === '') return
    this.#audioBytes += (base64.length * 3) / 4
    this.#told()
  }

  addImage(): void {
    this.#images++
    this.#told()
  }

  #told(): void {
    this.tokens = {
      audio: Math.ceil(this.#audioBytes * audioTokensPerByte),
      images: this.#images * tokensPerImage,
    }
  }
}

/** All tokens of both. */
export function mediaTotal(media: MediaTokens | undefined): number {
  return media ? media.audio + media.images : 0
}
