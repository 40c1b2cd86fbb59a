/** Thrown if a recorded request is stored in a file on another node. */
export class RecordedElsewhere extends Error {
  /** The host of the node that has the file. */
  readonly node: string

  constructor(node: string) {
    super(`the recording is a file on the node ${node}`)
    this.node = node
  }
}
