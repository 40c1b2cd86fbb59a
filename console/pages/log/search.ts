import { type ListSearch, parseListSearch, type RawSearch, texts } from '../../lib/url-state.ts'

/** The state of the log page in its address; numbers as text. Absent means no filter. */
export interface LogSearch extends ListSearch {
  /** A log type: 1 top-up … 4 system. */
  type?: string | undefined
  token?: string | undefined
  model?: string | undefined
  /** Admins only. */
  user?: string | undefined
  /** Id of a channel; admins only. */
  channel?: string | undefined
  /** Epoch seconds, or a span such as `24h` that ends now. */
  from?: string | undefined
  /** Epoch seconds. */
  to?: string | undefined
  /** `1`: admins see their own rows only. */
  mine?: string | undefined
  /** Id of a request whose row the drawer shows. */
  request?: string | undefined
}

const otherTexts = texts('type', 'token', 'model', 'user', 'channel', 'from', 'to', 'mine', 'request')

/** Reads the query of the log page. */
export function parseLogSearch(raw: RawSearch): LogSearch {
  return { ...parseListSearch(raw), ...otherTexts(raw) }
}
