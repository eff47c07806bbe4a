// The glyphs: one path each, drawn with the pen of base.css. They never carry meaning alone.

export const SHAPES = {
  alert: 'M10 3 2.5 16.5h15zM10 8v4M10 14.3v.1',
  check: 'm4 10.5 4 4 8-9',
  chevron: 'm5 8 5 5 5-5',
  clock: 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0zM10 6v4l2.5 2',
  copy: 'M9 7h6a2 2 0 0 1 2 2v6a2 2 0 0 1-2 2H9a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2zM13 7V5a2 2 0 0 0-2-2H5a2 2 0 0 0-2 2v6a2 2 0 0 0 2 2h2',
  cross: 'm5 5 10 10M15 5 5 15',
  direct: 'M3 7h11l-3-3M17 13H6l3 3',
  eye: 'M2 10s3-5.5 8-5.5S18 10 18 10s-3 5.5-8 5.5S2 10 2 10zM12.3 10a2.3 2.3 0 1 1-4.6 0 2.3 2.3 0 0 1 4.6 0z',
  globe: 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0zM3 10h14M10 3c2.2 2 3.2 4.3 3.2 7s-1 5-3.2 7c-2.2-2-3.2-4.3-3.2-7s1-5 3.2-7z',
  half: 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0z',
  out: 'M8 4H5a1 1 0 0 0-1 1v10a1 1 0 0 0 1 1h10a1 1 0 0 0 1-1v-3M11 4h5v5M16 4l-7 7',
  plus: 'M10 4v12M4 10h12',
  print: 'M6 7V3h8v4M6 14H4a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1h12a1 1 0 0 1 1 1v5a1 1 0 0 1-1 1h-2M6 12h8v5H6z',
  qr: 'M3 3h5v5H3zM12 3h5v5h-5zM3 12h5v5H3zM12 12h2v2M17 12v5h-5',
  seen: 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0z',
  shield: 'M10 2.5 4 5v4.5c0 3.8 2.5 6.6 6 8 3.5-1.4 6-4.2 6-8V5zM7.3 10l2 2 3.4-4',
  stop: 'M6.9 2.5h6.2l4.4 4.4v6.2l-4.4 4.4H6.9l-4.4-4.4V6.9zM7.5 7.5l5 5M12.5 7.5l-5 5',
} as const

/** What is filled besides being drawn. */
export const FILLED: Partial<Record<keyof typeof SHAPES, string>> = {
  half: 'M10 3a7 7 0 0 1 0 14z',
  seen: 'M12.5 10a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z',
}

export type Glyph = keyof typeof SHAPES

export function Icon({ name, class: className }: { name: Glyph; class?: string }) {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true" class={className}>
      <path d={SHAPES[name]} />
      {FILLED[name] && <path d={FILLED[name]} fill="currentColor" />}
    </svg>
  )
}
