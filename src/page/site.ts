import { getDomain } from 'tldts'
import { hostOf } from './url.ts'

/**
 * The site that a page belongs to, or null where its URL has no host.
 *
 * - `dots`: the rule of Henzinger 2006: a host with at most one dot is its own site, otherwise the site is what
 *   follows the first dot of the host. So bbc.co.uk belongs to co.uk, as in the paper.
 * - `public-suffix`: the registrable domain by the public suffix list, private domains (github.io …) included.
 *
 * Under both rules an IP address is its own site; under the second one also a host without registrable domain
 * (localhost, or a public suffix itself).
 */
export function siteOf(url: string | null, rule: 'public-suffix' | 'dots'): string | null {
  const host = hostOf(url)
  return host === null ? null : siteOfHost(host, rule)
}

/** The site of a host, as `hostOf` gives it. */
export function siteOfHost(host: string, rule: 'public-suffix' | 'dots'): string {
  return rule === 'dots' ? siteByDots(host) : siteByPublicSuffix(host)
}

/** Whether two sites are the same one. No site (null) is never the same as another, not even as no site. */
export function sameSite(a: string | null, b: string | null): boolean {
  return a !== null && a === b
}

function siteByDots(host: string): string {
  if (isAddress(host)) return host
  const firstDot = host.indexOf('.')
  return firstDot === host.lastIndexOf('.') ? host : host.slice(firstDot + 1)
}

function siteByPublicSuffix(host: string): string {
  // The URL standard has already extracted and checked the host; checking again would refuse hosts that exist,
  // such as those with an underscore or a leading hyphen.
  const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false }
  return getDomain(host, options) ?? host
}

/** A host that comes out of the URL parser is an IPv4 address exactly when its last label is a number. */
function isAddress(host: string): boolean {
  return host.startsWith('[') || /^\d+$/.test(host.slice(host.lastIndexOf('.') + 1))
}
