import type { UpstreamReader } from '../upstream/upstream-reader.ts'

/** What passes a stream on needs of the reader of its pieces. */
export type PieceReader = Pick<UpstreamReader, 'ask' | 'next' | 'cancel' | 'drain' | 'hurry'>

/** The reader of a stream that has been read to its end. */
export class EndedReader implements PieceReader {
  ask(answer: (piece: { kind: 'end' }) => void): void {
    answer({ kind: 'end' })
  }

  async next(): Promise<{ kind: 'end' }> {
    return { kind: 'end' }
  }

  cancel(): void {}
  drain(): void {}
  hurry(): void {}
}
