import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'

/** Gives a file that is complete its name, durably: what has that name is whole. It must lie in the same directory. */
export const publishFile = (begun: string, file: string): void => {
  flushToDisk(begun)
  renameSync(begun, file)
  flushToDisk(dirname(file))
}

/** Waits until the disk has the file, or of a directory the names in it. */
export const flushToDisk = (path: string): void => {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
