import { parseQuery, writeQuery } from './url-query.ts'

// The build uses these instead of the router's own functions, which read and write JSON. `app/router.ts` already passes
// the console's functions to the router, but without this replacement, the bundle would still contain the router's
// defaults.
export const defaultParseSearch = parseQuery
export const defaultStringifySearch = writeQuery
