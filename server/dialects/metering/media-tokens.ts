import type { MediaTokens } from '../neutral/dialect.ts'

/**
 * 20 tokens a second (OpenAI's audio pricing), at 48,000 bytes per second of pcm16, the only format in its streams. The
 * length of compressed audio is unknown, so it counts for less.
 */
const audioTokensPerByte = 20 / 48_000
/** An image of 1024×1024 by Google's models (Gemini API, "Image generation"); other models may use more. */
const tokensPerImage = 1_290

/** Counts the audio and the images of an answer as they arrive. */
export class MediaCounter {
  /** Undefined while there is none. */
  tokens: MediaTokens | undefined
  #audioBytes = 0
  #images = 0

  /** Adds a piece of audio, as base64. */
  addSound(base64: string): void {
    if (base64 === '') return
    this.#audioBytes += (base64.length * 3) / 4
    this.#update()
  }

  addImage(): void {
    this.#images++
    this.#update()
  }

  #update(): void {
    this.tokens = {
      audio: Math.ceil(this.#audioBytes * audioTokensPerByte),
      images: this.#images * tokensPerImage,
    }
  }
}

/** The tokens of both together. */
export function mediaTotal(media: MediaTokens | undefined): number {
  return media ? media.audio + media.images : 0
}
