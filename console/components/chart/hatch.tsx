/** A pattern of diagonal lines in the colour of the background. It is laid over shapes as `url(#id)`. */
export function Hatch({ id }: { id: string }) {
  return (
    <pattern id={id} width={6} height={6} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <line y2={6} className="stroke-surface" strokeWidth={2.5} opacity={0.5} />
    </pattern>
  )
}
