// The glyphs: those of all pages, and the dashboard's own. They never carry meaning alone.

import { FILLED, SHAPES as COMMON } from '#shared/parts/icon.tsx'

const SHAPES = {
  ...COMMON,
  back: 'M8 4 4 8l4 4M4 8h8a4 4 0 0 1 0 8H9',
  bell: 'M5 8a5 5 0 0 1 10 0c0 4.500 1.500 5.500 1.500 5.500h-13S5 12.500 5 8zM8 16.500a2 2 0 0 0 4 0',
  bolt: 'M11 2.500 4 11.500h5L8.500 17.500l7-9h-5z',
  calendar: 'M4 5h12a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zM3 9h14M7 3v4M13 3v4',
  code: 'm7 6-4 4 4 4M13 6l4 4-4 4',
  doc: 'M5 2.500h10v15l-2.500-1.600-2.500 1.600-2.500-1.600L5 17.500zM8 7h4M8 10.500h4',
  dots: 'M5 10h.01M10 10h.01M15 10h.01',
  find: 'M14.500 9a5.500 5.500 0 1 1-11 0 5.500 5.500 0 0 1 11 0zM13 13l4 4',
  gear: 'M3 6h8M15 6h2M3 14h2M9 14h8M15 6a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM9 14a2 2 0 1 1-4 0 2 2 0 0 1 4 0z',
  home: 'M3 9.500 10 3l7 6.500V16a1 1 0 0 1-1 1h-3.500v-5h-5v5H4a1 1 0 0 1-1-1z',
  key: 'M10 10a3.500 3.500 0 1 1-7 0 3.500 3.500 0 0 1 7 0zM10 10h7.500v3M14 10v2.500',
  link: 'm8.500 11.500 3-3M9 6l2-2a3.500 3.500 0 0 1 5 5l-2 2M11 14l-2 2a3.500 3.500 0 0 1-5-5l2-2',
  loop: 'M16 10a6 6 0 1 1-2-4.500L16 7M16 3v4h-4',
  menu: 'M3 6h14M3 10h14M3 14h14',
  minus: 'M5 10h10',
  pay: 'M3 7h11l-3-3M17 13H6l3 3',
  people:
    'M10.500 7a3 3 0 1 1-6 0 3 3 0 0 1 6 0zM2 16.500c.5-3 2.600-4.500 5.500-4.500s5 1.500 5.500 4.500M13 4.300a3 3 0 0 1 0 5.400M15 12.300c1.700.7 2.700 2.100 3 4.200',
  pin: 'M10 17.500s-5.500-4.600-5.500-9a5.500 5.500 0 0 1 11 0c0 4.400-5.500 9-5.500 9zM12 8.500a2 2 0 1 1-4 0 2 2 0 0 1 4 0z',
  right: 'M4 10h12M11 5l5 5-5 5',
  scale: 'M10 3v14M6 17h8M4 6h12M4 6l-2 5.500h4zM16 6l-2 5.500h4z',
  server: 'M4 3.500h12a1 1 0 0 1 1 1v4H3v-4a1 1 0 0 1 1-1zM3 11.500h14v4a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1zM6 6h.01M6 14h.01',
} as const

export type Glyph = keyof typeof SHAPES

export function Icon({ name, class: className }: { name: Glyph; class?: string }) {
  const filled = (FILLED as Partial<Record<Glyph, string>>)[name]
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true" class={className}>
      <path d={SHAPES[name]} />
      {filled && <path d={filled} fill="currentColor" />}
    </svg>
  )
}
