/*
 * The memory of the kernel, in order of address:
 *
 *     compiler's constants
 *     RESULT               what the caller reads after a call
 *     KEYS … PLANES        hash functions
 *     TAGS … CHARACTERS    tables, filled once
 *     HOST … TERM          small buffers
 *     PAGE                 the page, to the end of memory: see page.ts
 */

/** Room behind every text, so that vectors may be read and written past its end. */
export const PADDING: usize = 128

//     RESULT  +0  supershingles   48 bytes
//            +48  simhash         48 bytes
//            +96  content hash    16 bytes
export const RESULT: usize = 0x10000
export const SUPERSHINGLES: usize = RESULT
export const SIMHASH: usize = RESULT + 48
export const CONTENT_HASH: usize = RESULT + 96

/** 84 words of 4 bytes. */
export const MINVALUES: usize = 0x10100
export const MINVALUE_MULTIPLIERS: usize = 0x10300

/** 12 words of 4 bytes each. */
export const SIMHASH_MULTIPLIERS: usize = 0x10500
export const SIMHASH_MASKS: usize = 0x10540

/** 32 planes of 128 bits. */
export const PLANES: usize = 0x10600

/** Shingles in a block: both halves of a block stay in the first-level cache. */
export const BLOCK_SHINGLES: i32 = 512
export const SHINGLE_LOW: usize = 0x10800
export const SHINGLE_HIGH: usize = 0x11000

/** 16 bytes of 0xff and 16 bytes of 0: see `firstBytes` in bytes.ts. */
export const MASK_RAMP: usize = 0x11900

/** What a character may do in an address: 256 bytes, see image.ts. */
export const URL_CLASSES: usize = 0x11a00

/** See tags.ts. */
export const TAG_SLOTS: usize = 0x39000
export const ELEMENTS: usize = 0x14000
export const NEAREST_END_TAGS: usize = 0x14400

/** Each byte sixteen times, and other vectors: see `allBytes` in bytes.ts. */
export const SPLATS: usize = 0x15000
export const WHITE_SPACE: usize = 0x16000
export const NAME_ENDS: usize = 0x16010
export const STRUCTURAL: usize = 0x16020

/** See references.ts. */
export const REFERENCE_SLOTS: usize = 0x18000
export const REFERENCE_NAMES: usize = 0x46000

/** See character.ts. */
export const CHARACTER_INDEX: usize = 0x30000
export const EXPANSIONS: usize = 0x40000
export const CHARACTER_BLOCKS: usize = 0x60000

/** Fingerprints of short terms: see fingerprint.ts. */
export const KNOWN_TERMS: usize = 0xa0000

/** The page's own host. */
export const HOST: usize = 0xe0000
export const MAX_HOST: usize = 256

/** The address of an image with its references decoded. */
export const ADDRESS: usize = 0xe0400
export const MAX_ADDRESS: usize = 4096

/** The longest term of an image is 1,024 characters, each of which can be a blank that becomes "%20". */
export const MAX_IMAGE_TERM: usize = 4096

/** A term of a chunk beyond ASCII; folded, no character takes more than 64 bytes. */
export const TERM: usize = 0xf0000
export const MAX_TERM: usize = 0x2ff00

export const PAGE: usize = 0x120000
