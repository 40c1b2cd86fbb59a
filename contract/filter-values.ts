/** The maximum number of values in one filter. */
export const maxFilterValues = 20
