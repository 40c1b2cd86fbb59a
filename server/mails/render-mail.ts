import type { MailLanguage, MailText } from './texts.ts'

/** A mail in both forms. */
export interface RenderedMail {
  subject: string
  text: string
  html: string
}

/** Gives a mail its form: plain text, and HTML that needs no picture and no style sheet of its own. */
export function renderMail(
  mail: MailText,
  { language, name, address }: { language: MailLanguage; name: string; address: string },
): RenderedMail {
  const { code, link, note } = mail
  const text = [...mail.lines, code && `    ${code}`, link?.address, note, `-- \n${name}\n${address}`]
    .filter((part) => part !== undefined && part !== '')
    .join('\n\n')
  // A line break would end the head of the mail.
  const subject = mail.subject.replaceAll(/\s+/g, ' ').trim()
  return { subject, text: `${text}\n`, html: htmlPage({ ...mail, subject }, language, name, address) }
}

const font =
  "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'PingFang SC','Microsoft YaHei',Helvetica,Arial,sans-serif"

function htmlPage(mail: MailText, language: MailLanguage, name: string, address: string): string {
  const { subject, lines, code, link, note } = mail
  const parts = [
    ...lines.map((line) => `<p style="margin:0 0 16px">${escapeHtml(line)}</p>`),
    code &&
      `<p style="margin:0 0 16px;font-size:28px;line-height:36px;font-weight:600;letter-spacing:6px;font-family:Menlo,Consolas,monospace">${escapeHtml(code)}</p>`,
    link &&
      `<p style="margin:0 0 16px"><a href="${escapeHtml(link.address)}" style="display:inline-block;padding:10px 20px;border-radius:6px;background:#1d4ed8;color:#ffffff;text-decoration:none;font-weight:600">${escapeHtml(link.label)}</a></p>
<p style="margin:0 0 16px;font-size:13px;line-height:20px;color:#52606d;word-break:break-all">${escapeHtml(link.address)}</p>`,
    note && `<p style="margin:0;font-size:13px;line-height:20px;color:#52606d">${escapeHtml(note)}</p>`,
  ].filter((part) => part !== undefined && part !== '')
  return `<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(subject)}</title>
</head>
<body style="margin:0;padding:0;background:#f3f5f8">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f3f5f8">
<tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:520px;background:#ffffff;border-radius:8px">
<tr><td style="padding:28px 32px;${font};font-size:15px;line-height:24px;color:#1c2430">
<p style="margin:0 0 20px;font-size:17px;font-weight:600">${escapeHtml(name)}</p>
${parts.join('\n')}
</td></tr>
</table>
<p style="margin:16px 0 0;${font};font-size:12px;line-height:18px;color:#52606d"><a href="${escapeHtml(address)}" style="color:#52606d">${escapeHtml(address)}</a></p>
</td></tr>
</table>
</body>
</html>
`
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
