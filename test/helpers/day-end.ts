const dayMs = 86_400_000
const nearMs = 60_000

/** Waits if the day (UTC) is about to end, because daily counters would be reset in the middle of a test. */
export async function untilDayEndIsFar(): Promise<void> {
  while (dayMs - (Date.now() % dayMs) < nearMs) await new Promise((resolve) => setTimeout(resolve, 500))
}
