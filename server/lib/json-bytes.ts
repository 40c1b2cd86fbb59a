const decoder = new TextDecoder()

/** A JSON text as bytes. It is decoded only if its text is needed. */
export class JsonBytes {
  readonly bytes: Uint8Array
  #text: string | undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get text(): string {
    this.#text ??= decoder.decode(this.bytes)
    return this.#text
  }
}
