import { downloadFile } from '../../lib/download.ts'

/** Image pixels per screen pixel. With two, the image is sharp in a document. */
const scale = 2
const margin = 16
const captionPx = 24
const markPx = 10

/**
 * Properties that the style sheet sets on the shapes. They are inlined, because the image does not have the style
 * sheet.
 */
const styles = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'opacity',
  'font-family',
  'font-size',
  'text-anchor',
]

/** The chart as an image, with its styles inlined. */
async function drawn(chart: SVGSVGElement): Promise<HTMLImageElement> {
  const copy = chart.cloneNode(true) as SVGSVGElement
  const shapes = [...chart.querySelectorAll<SVGElement>('*')]
  for (const [index, element] of [...copy.querySelectorAll<SVGElement>('*')].entries()) {
    const original = shapes[index]
    if (!original) continue
    const computed = getComputedStyle(original)
    for (const style of styles) element.style.setProperty(style, computed.getPropertyValue(style))
  }
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`
  await image.decode()
  return image
}

/** Writes the title and legend of a figure on one line. */
function writeCaption(context: CanvasRenderingContext2D, figure: HTMLElement): void {
  const { fontFamily, color } = getComputedStyle(figure)
  let x = margin
  const write = (text: string, font: string) => {
    context.font = `${font} ${fontFamily}`
    context.fillStyle = color
    context.fillText(text, x, captionPx / 2 + margin / 2)
    x += context.measureText(text).width + margin
  }
  context.textBaseline = 'middle'
  write(figure.getAttribute('aria-label') ?? '', '600 14px')
  for (const entry of figure.querySelectorAll('figcaption li:not([data-hidden])')) {
    const mark = entry.querySelector('[aria-hidden]')
    if (mark) context.fillStyle = getComputedStyle(mark).backgroundColor
    context.fillRect(x, captionPx / 2 + margin / 2 - markPx / 2, markPx, markPx)
    x += markPx + 6
    write(entry.textContent ?? '', '12px')
  }
}

/**
 * Saves a figure's chart with its title and legend, as it looks on the screen. Rejects if the chart cannot be drawn.
 */
export async function savePicture(figure: HTMLElement): Promise<void> {
  const chart = figure.querySelector<SVGSVGElement>('svg[role="img"]')
  if (!chart) throw new Error('no chart')
  const { width, height } = chart.getBoundingClientRect()
  const canvas = document.createElement('canvas')
  canvas.width = (width + 2 * margin) * scale
  canvas.height = (height + captionPx + 2 * margin) * scale
  const context = canvas.getContext('2d')
  if (!context) throw new Error('no canvas')
  context.fillStyle = getComputedStyle(figure).backgroundColor
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.scale(scale, scale)
  writeCaption(context, figure)
  context.drawImage(await drawn(chart), margin, margin + captionPx, width, height)
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'))
  if (!blob) throw new Error('no picture')
  downloadFile(`${figure.getAttribute('aria-label') ?? 'chart'}.png`, blob)
}
