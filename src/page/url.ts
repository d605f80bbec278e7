/**
 * The one form of a URL under which two addresses count as the same: as the WHATWG URL standard writes it (lower-case
 * scheme and host, A-labels, no default port, `.` and `..` resolved), without fragment, user info and the root dot
 * of the host. Path and query are kept. Null where `url` is not an absolute URL.
 */
export function normalizeUrl(url: string): string | null {
  const parsed = parseUrl(url)
  return parsed === null ? null : normalized(parsed)
}

/** `normalizeUrl` and `hostOf` of one URL, which is parsed once. */
export function addressOf(url: string | null): { urlKey: string | null; host: string | null } {
  const parsed = url === null ? null : parseUrl(url)
  return parsed === null
    ? { urlKey: null, host: null }
    : { host: plainHost(parsed), urlKey: normalized(parsed) }
}

/** Changes `parsed`. */
function normalized(parsed: URL): string {
  parsed.hash = ''
  parsed.username = ''
  parsed.password = ''
  const host = plainHost(parsed)
  if (host !== null) parsed.hostname = host
  return parsed.href
}

/**
 * The host of an absolute URL: lower case, A-labels, IPv6 in brackets, no port, no trailing dot. Null where there is
 * none (no URL, not absolute, `data:`, `mailto:` …).
 */
export function hostOf(url: string | null): string | null {
  const parsed = url === null ? null : parseUrl(url)
  return parsed === null ? null : plainHost(parsed)
}

/**
 * Null where `url`, resolved against `base`, is not a URL. It is parsed twice, since an error that is thrown takes ten
 * times as long: a page can hold a million addresses that are none.
 */
export function parseUrl(url: string, base?: URL): URL | null {
  return URL.canParse(url, base?.href) ? new URL(url, base) : null
}

/** See `hostOf`. */
export function plainHost(url: URL): string | null {
  let end = url.hostname.length
  while (end > 0 && url.hostname[end - 1] === '.') end--
  // Hosts of schemes other than http, https, ftp, ws, wss and file keep their case in the URL standard.
  return end === 0 ? null : url.hostname.slice(0, end).toLowerCase()
}
