import { CruxError } from 'crux-types'
import { isMap, isPair, isScalar, isSeq, parseDocument } from 'yaml'
import type { DaemonErrorCode } from '../errors.js'

/**
 * Settings of a YAML file as text, by dotted key: what an environment variable would hold.
 *
 * Sequences become items between commas. Nulls are left out.
 *
 * @param path - Named in errors.
 * @throws {CruxError} `CONFIG_INVALID` when the text is no YAML mapping.
 */
export function parseYamlSettings(source: string, path: string): ReadonlyMap<string, string> {
  const document = parseDocument(source)
  const [problem] = document.errors
  if (problem !== undefined) refuse(path, problem.message.split('\n')[0] ?? 'syntax error')
  const settings = new Map<string, string>()
  const root = document.contents
  if (root === null || (isScalar(root) && root.value === null)) return settings
  if (!isMap(root)) refuse(path, 'the top level is not a mapping')
  collect(root, '', settings, path)
  return settings
}

function collect(node: unknown, key: string, into: Map<string, string>, path: string): void {
  if (isMap(node)) {
    for (const pair of node.items) {
      if (!isPair(pair) || !isScalar(pair.key)) refuse(path, `a key under '${key}' is not text`)
      collect(
        pair.value,
        key === '' ? String(pair.key.value) : `${key}.${pair.key.value}`,
        into,
        path,
      )
    }
    return
  }
  if (isSeq(node)) {
    const items = node.items.map((item) => {
      if (!isScalar(item)) refuse(path, `'${key}' holds something that is not a plain value`)
      return String(item.value)
    })
    into.set(key, items.join(','))
    return
  }
  if (node === null || (isScalar(node) && node.value === null)) return
  if (!isScalar(node)) refuse(path, `'${key}' is not a plain value`)
  into.set(key, String(node.value))
}

function refuse(path: string, why: string): never {
  throw new CruxError<DaemonErrorCode>(
    'CONFIG_INVALID',
    `configuration file ${path}: ${why}; mend it, or set CORECRUXD_CONFIG_PATH to another file (empty for none)`,
    { data: { problems: [why] } },
  )
}
