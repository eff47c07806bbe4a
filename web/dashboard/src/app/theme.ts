// Light, dark, or as the system has it. The style says what is dark in one place, under a condition; choosing a theme
// changes that condition.

const DARK = '(prefers-color-scheme: dark)'
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export function savedTheme(): Theme {
  try {
    const saved = localStorage.getItem('till.theme')
    return THEMES.find((theme) => theme === saved) ?? 'system'
  } catch {
    return 'system'
  }
}

const conditions: MediaList[] = []

export function setTheme(theme: Theme): void {
  try {
    localStorage.setItem('till.theme', theme)
  } catch {
    // Chosen again next time.
  }
  if (conditions.length === 0) {
    for (const sheet of document.styleSheets) {
      for (const rule of sheet.cssRules) if (rule instanceof CSSMediaRule && rule.media.mediaText === DARK) conditions.push(rule.media)
    }
  }
  for (const media of conditions) media.mediaText = { system: DARK, light: 'not all', dark: 'all' }[theme]
}
