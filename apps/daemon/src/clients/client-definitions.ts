import { join } from 'node:path'
import { commonShape, type EntryShape, opencodeShape } from './connection.js'
import { applicationDir, type Machine, xdgConfigDir } from './machine.js'

/** A program with an agent in it, and how it is told of MCP servers. */
export interface ClientDefinition {
  /** What `--agent` takes, and the name that its agent gets. */
  readonly id: string
  /** For people. */
  readonly title: string
  readonly format: 'json' | 'toml'
  /** Configuration files of the user, the one that counts first: the first that exists, else the first. */
  files(machine: Machine): readonly string[]
  /** Files and folders of which any shows that the program is or was here. */
  traces(machine: Machine): readonly string[]
  /** Names under which it is started from a command line. */
  readonly programs: readonly string[]
  /** Keys that lead to the servers; the second one counts when the configuration has it. */
  readonly servers: readonly [readonly string[], ...(readonly (readonly string[])[])]
  readonly shape: EntryShape
  /** Its limits in crux-mcp's table of clients; absent where none is known. */
  readonly limits?: string
  /** What the user does for the program to take it up. */
  readonly restart: string
  /** Where its makers describe the format. */
  readonly source: string
}

/** The name of the daemon's entry in every configuration. */
export const SERVER_NAME = 'crux'

const CLINE_FILE = 'cline_mcp_settings.json'

/** Every client that can be set up. `docs/clients-setup.md` says when each source was read. */
export const CLIENTS: readonly ClientDefinition[] = [
  {
    id: 'claude',
    title: 'Claude Code',
    format: 'json',
    files: ({ env, homeDir }) => [join(env.CLAUDE_CONFIG_DIR || homeDir, '.claude.json')],
    traces: ({ homeDir }) => [join(homeDir, '.claude'), join(homeDir, '.claude.json')],
    programs: ['claude'],
    servers: [['mcpServers']],
    shape: commonShape({ url: 'url', stdioType: 'stdio', httpType: 'http' }),
    limits: 'claude',
    restart: 'start a new session',
    source: 'https://code.claude.com/docs/en/mcp',
  },
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    format: 'json',
    files: (machine) => [join(applicationDir(machine), 'Claude', 'claude_desktop_config.json')],
    traces: (machine) => [join(applicationDir(machine), 'Claude')],
    programs: ['claude-desktop'],
    servers: [['mcpServers']],
    shape: commonShape({}),
    limits: 'claude',
    restart: 'quit it and start it again',
    source: 'https://modelcontextprotocol.io/docs/develop/connect-local-servers',
  },
  {
    id: 'codex',
    title: 'Codex',
    format: 'toml',
    files: ({ env, homeDir }) => [join(env.CODEX_HOME || join(homeDir, '.codex'), 'config.toml')],
    traces: ({ env, homeDir }) => [env.CODEX_HOME || join(homeDir, '.codex')],
    programs: ['codex'],
    servers: [['mcp_servers']],
    shape: commonShape({ url: 'url', headers: 'http_headers' }),
    limits: 'openai',
    restart: 'start a new session',
    source: 'https://developers.openai.com/codex/mcp',
  },
  {
    id: 'cursor',
    title: 'Cursor',
    format: 'json',
    files: ({ homeDir }) => [join(homeDir, '.cursor', 'mcp.json')],
    traces: ({ homeDir }) => [join(homeDir, '.cursor')],
    programs: ['cursor', 'cursor-agent'],
    servers: [['mcpServers']],
    shape: commonShape({ url: 'url' }),
    limits: 'cursor',
    restart: 'restart it, and switch the server on in its settings if it asks',
    source: 'https://cursor.com/docs/mcp',
  },
  {
    id: 'vscode',
    title: 'VS Code',
    format: 'json',
    files: (machine) => [join(applicationDir(machine), 'Code', 'User', 'mcp.json')],
    traces: (machine) => [join(applicationDir(machine), 'Code', 'User')],
    programs: ['code'],
    servers: [['servers']],
    shape: commonShape({ url: 'url', stdioType: 'stdio', httpType: 'http' }),
    limits: 'vscode',
    restart: 'run "MCP: List Servers" and start crux',
    source: 'https://code.visualstudio.com/docs/agents/reference/mcp-configuration',
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    format: 'json',
    files: ({ homeDir }) => [join(homeDir, '.gemini', 'settings.json')],
    traces: ({ homeDir }) => [join(homeDir, '.gemini')],
    programs: ['gemini'],
    servers: [['mcpServers']],
    shape: commonShape({ url: 'httpUrl' }),
    limits: 'gemini',
    restart: 'start a new session',
    source: 'https://geminicli.com/docs/tools/mcp-server',
  },
  {
    id: 'windsurf',
    title: 'Windsurf',
    format: 'json',
    files: ({ homeDir }) => [join(homeDir, '.codeium', 'windsurf', 'mcp_config.json')],
    traces: ({ homeDir }) => [join(homeDir, '.codeium', 'windsurf')],
    programs: ['windsurf'],
    servers: [['mcpServers']],
    shape: commonShape({ url: 'serverUrl' }),
    restart: 'refresh the list of MCP servers',
    source: 'https://docs.windsurf.com/windsurf/cascade/mcp',
  },
  {
    id: 'zed',
    title: 'Zed',
    format: 'json',
    files: (machine) => [join(zedDir(machine), 'settings.json')],
    traces: (machine) => [zedDir(machine)],
    programs: ['zed', 'zeditor'],
    servers: [['context_servers']],
    shape: commonShape({ url: 'url' }),
    restart: 'nothing: it reads its settings at once',
    source: 'https://zed.dev/docs/ai/mcp',
  },
  {
    id: 'cline',
    title: 'Cline',
    format: 'json',
    files: (machine) => {
      const own = join(machine.homeDir, '.cline', 'data', 'settings', CLINE_FILE)
      const override = machine.env.CLINE_MCP_SETTINGS_PATH
      if (override) return [override]
      return [own, join(clineStorage(machine), 'settings', CLINE_FILE)]
    },
    traces: (machine) => [join(machine.homeDir, '.cline'), clineStorage(machine)],
    programs: ['cline'],
    servers: [['mcpServers']],
    shape: commonShape({ url: 'url', httpType: 'streamableHttp' }),
    restart: 'nothing: it watches the file',
    source: 'https://docs.cline.bot/mcp/mcp-overview',
  },
  {
    id: 'opencode',
    title: 'opencode',
    format: 'json',
    files: (machine) => {
      const dir = join(xdgConfigDir(machine), 'opencode')
      return [join(dir, 'opencode.json'), join(dir, 'opencode.jsonc')]
    },
    traces: (machine) => [join(xdgConfigDir(machine), 'opencode')],
    programs: ['opencode'],
    // Version 2 reads the first form as well; the second one is its own.
    servers: [['mcp'], ['mcp', 'servers']],
    shape: opencodeShape,
    restart: 'start it again',
    source: 'https://opencode.ai/docs/mcp-servers',
  },
]

function zedDir(machine: Machine): string {
  if (machine.platform === 'win32') return join(applicationDir(machine), 'Zed')
  return join(
    machine.platform === 'darwin' ? join(machine.homeDir, '.config') : xdgConfigDir(machine),
    'zed',
  )
}

/** Where the extension of VS Code kept its settings before they moved to the home directory. */
function clineStorage(machine: Machine): string {
  return join(applicationDir(machine), 'Code', 'User', 'globalStorage', 'saoudrizwan.claude-dev')
}
