/** The caller left while the upstream had its request: the upstream is stopped, and the prompt is charged. */
export class CallerLeft extends Error {
  constructor() {
    super('the caller left')
  }
}
