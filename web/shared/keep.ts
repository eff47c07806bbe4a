// What the tab remembers while it is open: it survives a reload and ends with the tab. Browsers that keep
// nothing are no reason to fail.

export function remember(name: string, value: string): void {
  try {
    sessionStorage.setItem(`till.${name}`, value)
  } catch {
    // Nothing is kept, then.
  }
}

export function recall(name: string): string | null {
  try {
    return sessionStorage.getItem(`till.${name}`)
  } catch {
    return null
  }
}

/** The language outlives the tab. */
export function savedLanguage(): string | null {
  try {
    return localStorage.getItem('till.language')
  } catch {
    return null
  }
}

export function saveLanguage(code: string): void {
  try {
    localStorage.setItem('till.language', code)
  } catch {
    // Chosen again next time.
  }
}
