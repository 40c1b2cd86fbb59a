import type { MediaTokens } from '../neutral/dialect.ts'

/**
 * A second of audio is 20 tokens (OpenAI's audio pricing) and 48,000 bytes of pcm16, the only format in OpenAI's
 * streams. The duration of compressed audio is unknown. It has fewer bytes per second, so its tokens are
 * underestimated.
 */
const audioTokensPerByte = 20 / 48_000
/** The tokens of a 1024×1024 image by Google's models (Gemini API, "Image generation"). Other models may use more. */
const tokensPerImage = 1_290

/** Counts the audio and the images of an answer as they arrive. */
export class MediaCounter {
  /** Undefined until there is audio or an image. */
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

/** The total of audio and image tokens. */
export function mediaTotal(media: MediaTokens | undefined): number {
  return media ? media.audio + media.images : 0
}
