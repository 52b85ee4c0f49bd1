import { configurationPage, exampleEnv, exampleYaml } from 'crux-daemon'
import { CLIENT_LIMITS, surfaceSizes, tools } from 'crux-mcp'
import { clientsPage } from './clients-page.js'
import { KERNEL_MODULE, kernelModule } from './compile-kernel.js'
import { toolsPage } from './tools-page.js'
import { workspaceRoot } from './workspace.js'

/** A committed file whose text follows from the sources. */
export interface GeneratedFile {
  /** From the workspace root. */
  readonly path: string
  readonly text: string
}

/** Every generated file as it ought to be. */
export function generatedFiles(): GeneratedFile[] {
  return [
    { path: 'config.example.env', text: exampleEnv() },
    { path: 'config.example.yaml', text: exampleYaml() },
    { path: 'docs/clients.md', text: clientsPage(CLIENT_LIMITS, surfaceSizes(tools)) },
    { path: 'docs/configuration.md', text: configurationPage() },
    { path: 'docs/tools.md', text: toolsPage(tools) },
    { path: KERNEL_MODULE, text: kernelModule(workspaceRoot()) },
  ]
}
