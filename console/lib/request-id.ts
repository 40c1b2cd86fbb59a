const form = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\d{17}$/

/** Whether a text looks like the id of a request, as in the `X-Oneapi-Request-Id` header. */
export function isRequestId(text: string): boolean {
  return form.test(text)
}

/** The time at which the request with this id began, in epoch seconds. Undefined if the text is not a request id. */
export function requestStart(id: string): number | undefined {
  const [, year, month, day, hour, minute, second] = form.exec(id) ?? []
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(ms) ? undefined : ms / 1000
}
