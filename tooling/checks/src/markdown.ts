import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import type { TextFile } from './workspace.js'

/** A fenced block of a Markdown file. */
export interface CodeBlock {
  /** First word after the fence, lower case; empty when there is none. */
  readonly language: string
  readonly code: string
  /** Line of the opening fence, from 1. */
  readonly line: number
}

/** Fenced code blocks, in order. */
export function codeBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let open: { fence: string; language: string; line: number; lines: string[] } | undefined
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^ {0,3}(`{3,}|~{3,})\s*(\S*)/.exec(line)
    if (open !== undefined) {
      if (fence?.[1]?.startsWith(open.fence) === true && fence[2] === '') {
        blocks.push({ language: open.language, code: open.lines.join('\n'), line: open.line })
        open = undefined
      } else {
        open.lines.push(line)
      }
    } else if (fence?.[1] !== undefined) {
      const language = (fence[2] ?? '').toLowerCase()
      open = { fence: fence[1], language, line: index + 1, lines: [] }
    }
  }
  return blocks
}

/** Targets of inline links, images and reference definitions outside of code, with their lines. */
export function linksOf(markdown: string): { target: string; line: number }[] {
  const links: { target: string; line: number }[] = []
  for (const [index, line] of withoutCode(markdown).entries()) {
    for (const match of line.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)) {
      links.push({ target: match[1] ?? '', line: index + 1 })
    }
    const definition = /^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)/.exec(line)
    if (definition?.[1] !== undefined) links.push({ target: definition[1], line: index + 1 })
  }
  return links
}

/** Fragments by which the headings of a Markdown text can be addressed. */
export function headingSlugs(markdown: string): Set<string> {
  const slugs = new Set<string>()
  for (const line of withoutCode(markdown, { keepInline: true })) {
    const title = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/.exec(line)?.[1]
    if (title === undefined) continue
    const base = title
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    let slug = base
    for (let n = 1; slugs.has(slug); n++) slug = `${base}-${n}`
    slugs.add(slug)
  }
  return slugs
}

/**
 * Relative links of a Markdown file that lead nowhere: the file or folder is missing, lies outside
 * of the workspace, or has no heading of that name.
 */
export function findBrokenLinks(root: string, file: TextFile): string[] {
  return linksOf(file.text).flatMap(({ target, line }) => {
    if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) return []
    const [rawPath = '', fragment] = target.split('#', 2)
    const path = posix.normalize(posix.join(dirname(file.path), decodeURI(rawPath)))
    const where = `${file.path}:${line}: link to '${target}'`
    if (rawPath.startsWith('/') || path.startsWith('..')) return [`${where} leaves the project`]
    const absolute = join(root, path)
    if (rawPath !== '' && !existsSync(absolute)) return [`${where} leads to no file`]
    if (fragment === undefined) return []
    if (rawPath !== '' && (!path.endsWith('.md') || statSync(absolute).isDirectory())) return []
    const text = rawPath === '' ? file.text : readFileSync(absolute, 'utf8')
    return headingSlugs(text).has(fragment) ? [] : [`${where} leads to no heading`]
  })
}

/**
 * Commands in the shell blocks of a Markdown file that cannot work: an npm or pnpm script that the
 * root does not have, or `node` on a file that is neither there nor built.
 */
export function findUnknownCommands(
  file: TextFile,
  scripts: Readonly<Record<string, string>>,
  exists: (path: string) => boolean,
): string[] {
  const blocks = codeBlocks(file.text).filter(({ language }) =>
    ['sh', 'bash', 'shell', 'console'].includes(language),
  )
  return blocks.flatMap((block) =>
    block.code.split('\n').flatMap((raw) => {
      const command = raw.replace(/^\s*\$\s+/, '').trim()
      const report = (what: string): string[] => [
        `${file.path}:${block.line}: '${command}' ${what}`,
      ]
      const script =
        /\b(?:npm|pnpm(?:@\S+)?)\s+(?:run\s+|(?=start\b|test\b|build\b|bench\b))([\w:-]+)/.exec(
          command,
        )?.[1]
      if (script !== undefined && scripts[script] === undefined) {
        return report(`names no script of package.json`)
      }
      const path = /^(?:[A-Z_]+=\S+\s+)*node\s+([\w./-]+\.m?js)\b/.exec(command)?.[1]
      if (path !== undefined && !path.includes('/dist/') && !exists(path)) {
        return report('names no file')
      }
      return []
    }),
  )
}

function withoutCode(markdown: string, options: { keepInline?: boolean } = {}): string[] {
  const lines = markdown.split('\n')
  for (const block of codeBlocks(markdown)) {
    const length = block.code === '' ? 0 : block.code.split('\n').length
    lines.fill('', block.line - 1, block.line + length + 1)
  }
  return options.keepInline === true
    ? lines
    : lines.map((line) => line.replace(/(`+)(?:(?!\1).)+?\1/g, ''))
}
