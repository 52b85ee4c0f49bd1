/**
 * Who may import whom. Arrows point down only: a package may use what stands in its list and
 * nothing else of the workspace. `docs/architecture.md` explains the layers; a package that is not
 * named here does not exist yet, and one that comes to exist needs its line.
 */
export const PACKAGE_MAP: Readonly<Record<string, readonly string[]>> = {
  'crux-types': [],
  'crux-text': [],
  'crux-segment': ['crux-types'],
  'crux-storage': ['crux-types', 'crux-segment'],
  'crux-retrieval': ['crux-types', 'crux-segment'],
  'crux-documents': ['crux-types', 'crux-segment', 'crux-storage', 'crux-retrieval'],
  'crux-memory': ['crux-types', 'crux-text', 'crux-storage', 'crux-retrieval'],
  'crux-session': ['crux-types', 'crux-storage', 'crux-memory'],
  'crux-observe': ['crux-types', 'crux-text', 'crux-storage', 'crux-retrieval', 'crux-memory'],
  'crux-mcp': [
    'crux-types',
    'crux-text',
    'crux-segment',
    'crux-storage',
    'crux-retrieval',
    'crux-documents',
    'crux-memory',
    'crux-session',
    'crux-observe',
  ],
  'crux-daemon': [
    'crux-types',
    'crux-text',
    'crux-segment',
    'crux-storage',
    'crux-retrieval',
    'crux-documents',
    'crux-memory',
    'crux-session',
    'crux-observe',
    'crux-mcp',
  ],
  // Tools around the product; nothing of the product may import them.
  'crux-bench': ['crux-types', 'crux-retrieval', 'crux-documents', 'crux-storage', 'crux-daemon'],
  'crux-e2e': ['crux-daemon', 'crux-checks'],
  'crux-checks': ['crux-types', 'crux-mcp', 'crux-daemon'],
  'crux-tsconfig': [],
}

/** Compiler settings, not code: every package extends them, as a development dependency. */
export const SHARED_SETTINGS = 'crux-tsconfig'
