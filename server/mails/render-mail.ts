import { escapeHtml } from '../lib/escape-html.ts'
import { type MailLanguage, type MailText, mailLanguageTags, mailTexts } from './texts.ts'

/** An email as plain text and as HTML. */
export interface RenderedMail {
  subject: string
  text: string
  html: string
}

/** The frame around every email of an installation. */
interface MailFrame {
  language: MailLanguage
  /** The option SystemName. */
  name: string
  /** Public address of the installation. */
  address: string
}

/** The maximum length of a subject. Email programs truncate longer subjects anyway. */
const longestSubject = 200
const longestPreview = 140

/** Formats an email as plain text, and as HTML without images or other content that must be loaded. */
export function renderMail(mail: MailText, frame: MailFrame): RenderedMail {
  const { code, link, note } = mail
  const parts = [
    ...mail.lines,
    mail.amounts?.map(({ label, amount }) => `${label}: ${amount}`).join('\n'),
    code && `    ${code}`,
    link && `${link.label}:\n${link.address}`,
    note,
    `-- \n${frame.name}\n${frame.address}`,
  ]
  const text = parts.filter((part) => part !== undefined && part.trim() !== '').join('\n\n')
  // A line break would end the Subject header of the email.
  const subject = cut(mail.subject.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim(), longestSubject)
  return { subject, text: `${text}\n`, html: htmlPage({ ...mail, subject }, frame) }
}

function cut(text: string, most: number): string {
  const letters = [...text]
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : text
}

const font =
  "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'PingFang SC','Microsoft YaHei','Hiragino Sans',Helvetica,Arial,sans-serif"

/**
 * Styles for email programs that support dark mode. All other styles are inline, because other programs read only
 * inline styles.
 */
const styles = `:root{color-scheme:light dark}
@media (prefers-color-scheme:dark){
.page{background:#12161c!important}
.card{background:#1b212a!important;border-color:#303a47!important}
.ink{color:#e6eaf0!important}
.faint,.faint a{color:#a3afbd!important}
.code{background:#12161c!important;border-color:#303a47!important;color:#e6eaf0!important}
}
@media (max-width:480px){.inner{padding:24px 20px 4px!important}}`

function htmlPage(mail: MailText, { language, name, address }: MailFrame): string {
  const { texts, lang } = { texts: mailTexts[language].frame, lang: mailLanguageTags[language] }
  return `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(mail.subject)}</title>
<style>${styles}</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f3f5f8">
${preview(mail)}
<table class="page" role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f3f5f8">
<tr><td align="center" style="padding:32px 16px">
<table class="card" role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:520px;background:#ffffff;border:1px solid #dfe4ea;border-radius:10px">
<tr><td class="inner ink" style="padding:32px 36px 12px;${font};font-size:16px;line-height:25px;color:#1c2430;text-align:left;overflow-wrap:anywhere">
<p class="faint" style="margin:0 0 20px;font-size:14px;line-height:20px;font-weight:600;color:#52606d">${escapeHtml(name)}</p>
${bodyOf(mail, texts.openInstead)}
</td></tr>
</table>
<p class="faint" style="margin:20px 0 0;${font};font-size:12px;line-height:18px;color:#52606d;overflow-wrap:anywhere">${escapeHtml(texts.sentBy(name))}<br><a href="${escapeHtml(address)}" style="color:#52606d">${escapeHtml(address)}</a></p>
</td></tr>
</table>
</body>
</html>
`
}

/**
 * The text that a list of emails shows next to the subject. It ends in blanks, so that the list does not show the text
 * that follows.
 */
function preview({ lines, code }: MailText): string {
  const text = cut([lines[0], code].filter(Boolean).join(' '), longestPreview)
  const hidden = 'display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;font-size:1px;line-height:1px'
  return `<div style="${hidden}">${escapeHtml(text)}${'&#847;&zwnj;&nbsp;'.repeat(60)}</div>`
}

function bodyOf({ title, lines, amounts, code, link, note }: MailText, openInstead: string): string {
  const shown = lines.filter((line) => line.trim() !== '')
  const parts = [
    `<h1 style="margin:0 0 16px;font-size:21px;line-height:28px;font-weight:600">${escapeHtml(title)}</h1>`,
    ...shown.map((line) => `<p style="margin:0 0 20px">${escapeHtml(line)}</p>`),
    amounts && amountsTable(amounts),
    code &&
      `<p class="code" style="margin:0 0 20px;padding:14px 10px 14px 16px;border:1px solid #dfe4ea;border-radius:8px;background:#f3f5f8;font-family:Menlo,Consolas,monospace;font-size:28px;line-height:36px;font-weight:600;letter-spacing:6px;text-align:center;color:#1c2430">${escapeHtml(code)}</p>`,
    link && button(link, openInstead),
    note &&
      `<p class="faint" style="margin:0 0 20px;font-size:13px;line-height:20px;color:#52606d">${escapeHtml(note)}</p>`,
  ]
  return parts.filter((part) => part !== undefined && part !== '').join('\n')
}

function amountsTable(amounts: NonNullable<MailText['amounts']>): string {
  const cell = 'padding:6px 0;border-top:1px solid #dfe4ea;font-size:14px;line-height:20px;vertical-align:top'
  const rows = amounts.map(({ label, amount, strong }) => {
    const weight = strong ? ';font-weight:600' : ''
    const inset = label.startsWith(' ') ? ';padding-left:16px' : ''
    return `<tr><td style="${cell}${weight}${inset}">${escapeHtml(label.trim())}</td><td align="right" style="${cell}${weight};padding-left:16px;white-space:nowrap">${escapeHtml(amount)}</td></tr>`
  })
  return `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 20px;border-collapse:collapse">${rows.join('')}</table>`
}

/** A button in a table cell, because some email programs ignore the padding of a link. */
function button({ label, address }: { label: string; address: string }, openInstead: string): string {
  const href = escapeHtml(address)
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 20px"><tr><td bgcolor="#1d4ed8" style="border-radius:8px;background:#1d4ed8"><a href="${href}" style="display:inline-block;padding:12px 24px;${font};font-size:16px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none">${escapeHtml(label)}</a></td></tr></table>
<p class="faint" style="margin:0 0 20px;font-size:13px;line-height:20px;color:#52606d">${escapeHtml(openInstead)}<br><a href="${href}" style="color:#52606d;word-break:break-all">${href}</a></p>`
}
