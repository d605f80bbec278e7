/** The collection that is `DATABASE_URL` itself: the only one of a service without keys. */
export const defaultCollection = 'default'

/**
 * A name becomes the name of a file: no dot, no separator, and no capitals, which some file systems do not tell
 * from small letters.
 */
export const collectionNamePattern = '^[a-z0-9][a-z0-9_-]{0,62}$'

export const collectionNameRule =
  '1 to 63 of the characters a-z, 0-9, - and _, the first of them a letter or a digit'

const pattern = new RegExp(collectionNamePattern)

export const isCollectionName = (name: string): boolean => pattern.test(name)
