/** Colours of dots, which mark latencies, groups and statuses. */
export type DotColor = 'green' | 'olive' | 'yellow' | 'orange' | 'red' | 'purple' | 'grey' | 'accent'
