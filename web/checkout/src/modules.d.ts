// Modules that vite.config.ts makes from the repository's own tables.

declare module 'till:networks' {
  const table: Record<string, import('./chain/networks.ts').Network>
  export default table
}

declare module 'till:tokens' {
  /** By asset code. */
  const table: Record<string, { contract: string; decimals: number }>
  export default table
}

declare module 'till:build' {
  export const version: string
}
