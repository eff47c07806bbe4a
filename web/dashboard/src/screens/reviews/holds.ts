/** A large amount asks for a look; everything else says that something may be wrong. */
export const isRisk = (hold: string) => hold !== 'manual_review'
