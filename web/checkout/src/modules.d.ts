// The module that vite.config.ts makes of the words.

declare module 'till:words' {
  /** By language and group, such as `de/pay`. */
  export const files: Record<string, () => Promise<{ default: string[] }>>
}
