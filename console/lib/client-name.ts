// The first pattern that matches applies. The order matters, because a User-Agent header also names the browsers that
// the sender is compatible with: Edge, for example, also names Chrome and Safari.
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bHeadlessChrome\/|\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bVersion\/\S+ (?:Mobile\/\S+ )?Safari\//, 'Safari'],
]

const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows NT\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** The browser and operating system in a User-Agent header; undefined if it is not that of a known browser. */
export function browserOf(userAgent: string): { browser: string; system: string | undefined } | undefined {
  const browser = browsers.find(([pattern]) => pattern.test(userAgent))?.[1]
  if (browser === undefined) return undefined
  return { browser, system: systems.find(([pattern]) => pattern.test(userAgent))?.[1] }
}
