/** The maximum number of values of one filter. */
export const maxFilterValues = 20
