// Modules that build.ts makes from the repository's own tables.

declare module 'till:networks' {
  const table: Record<string, import('./chain/networks.ts').Network>
  export default table
}

declare module 'till:tokens' {
  /** By asset code. */
  const table: Record<string, { contract: string; decimals: number }>
  export default table
}

declare module 'till:coins' {
  /** What fees are paid in, by network: as a wallet wants to hear it. */
  const table: Record<string, { name: string; symbol: string; decimals: number }>
  export default table
}

declare module 'till:api' {
  /** What the API of this version takes, where versions differ. */
  const api: { takesWalletProof: boolean }
  export default api
}
