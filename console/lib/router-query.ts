import { parseQuery, writeQuery } from './url-query.ts'

// The build uses these in place of the router's own functions, which read and write JSON. The router is given the
// console's functions anyway (`app/router.ts`), but would keep its own as the defaults.
export const defaultParseSearch = parseQuery
export const defaultStringifySearch = writeQuery
