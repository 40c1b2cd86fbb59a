import type { aboutEn } from './about.en.ts'
import type { alertEn } from './alert.en.ts'
import type { auditEn } from './audit.en.ts'
import type { authEn } from './auth.en.ts'
import type { budgetEn } from './budget.en.ts'
import type { carryEn } from './carry.en.ts'
import type { channelEn } from './channel.en.ts'
import type { chatEn } from './chat.en.ts'
import type { commonEn } from './common.en.ts'
import type { findingEn } from './finding.en.ts'
import type { formEn } from './form.en.ts'
import type { homeEn } from './home.en.ts'
import type { importEn } from './import.en.ts'
import type { logEn } from './log.en.ts'
import type { modelEn } from './model.en.ts'
import type { optionEn } from './option.en.ts'
import type { paletteEn } from './palette.en.ts'
import type { playgroundEn } from './playground.en.ts'
import type { providerEn } from './provider.en.ts'
import type { recordingEn } from './recording.en.ts'
import type { redemptionEn } from './redemption.en.ts'
import type { referenceEn } from './reference.en.ts'
import type { refusalEn } from './refusal.en.ts'
import type { registerEn } from './register.en.ts'
import type { resetEn } from './reset.en.ts'
import type { settingEn } from './setting.en.ts'
import type { shellEn } from './shell.en.ts'
import type { statementEn } from './statement.en.ts'
import type { statusEn } from './status.en.ts'
import type { tableEn } from './table.en.ts'
import type { tokenEn } from './token.en.ts'
import type { topupEn } from './topup.en.ts'
import type { usageEn } from './usage.en.ts'
import type { userEn } from './user.en.ts'
import type { virtualEn } from './virtual.en.ts'

/** Texts by area. English is the reference: its keys are those of every other language. */
interface Catalogues {
  about: typeof aboutEn
  alert: typeof alertEn
  audit: typeof auditEn
  auth: typeof authEn
  budget: typeof budgetEn
  carry: typeof carryEn
  channel: typeof channelEn
  chat: typeof chatEn
  common: typeof commonEn
  finding: typeof findingEn
  form: typeof formEn
  home: typeof homeEn
  import: typeof importEn
  log: typeof logEn
  model: typeof modelEn
  option: typeof optionEn
  palette: typeof paletteEn
  playground: typeof playgroundEn
  recording: typeof recordingEn
  provider: typeof providerEn
  redemption: typeof redemptionEn
  refusal: typeof refusalEn
  reference: typeof referenceEn
  register: typeof registerEn
  reset: typeof resetEn
  setting: typeof settingEn
  shell: typeof shellEn
  statement: typeof statementEn
  status: typeof statusEn
  table: typeof tableEn
  token: typeof tokenEn
  topup: typeof topupEn
  usage: typeof usageEn
  user: typeof userEn
  virtual: typeof virtualEn
}

/** A file of messages that is loaded with the pages that need it. */
export type Area = keyof Catalogues

type Union<T> = (T extends unknown ? (value: T) => void : never) extends (value: infer All) => void ? All : never

/** Every message of the console in English. */
export type Messages = Union<Catalogues[Area]>
export type MessageKey = keyof Messages & string

/** A translation of an area, which must have exactly the keys of the English texts. */
export type Translation<A extends Area> = Readonly<Record<keyof Catalogues[A], string>>
