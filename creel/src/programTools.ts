import type { TerminalTools } from '@creel/terminal/tools'
import { environmentOfDataFolder, ownDataFolder } from './dataFolder.ts'
import { keptKey, localServices, renewLocalKey } from './localService.ts'
import type { ProgramParts } from './programParts.ts'

/** Dependencies of commands. */
export interface ProgramTools extends ProgramParts, TerminalTools {}

/** The tools of commands, for a program of these parts. Code of the service is loaded when a tool needs it. */
export function programTools(parts: ProgramParts, whole: TerminalTools['whole']): ProgramTools {
  return {
    ...parts,
    whole,
    ownDataFolder,
    localServices,
    keptKey,
    renewLocalKey: (dataDir) => renewLocalKey(dataDir, parts),
    async localSignInLink(dataDir, workspace) {
      const { asOperator } = await import('./operatorSession.ts')
      const environment = environmentOfDataFolder(process.env, dataDir)
      return (
        await asOperator(parts, workspace, (operator) => operator.sessions.link({ workspace }), environment)
      ).url
    },
    async startQuickService(environment, options) {
      const { startQuickService } = await import('./serving/quickService.ts')
      return await startQuickService(environment, parts, options)
    },
    readCondition: async (text) => (await import('./lent/condition.ts')).readCondition(text),
    curlCommand: async (request, url) => (await import('./lent/curl.ts')).curlCommand(request, url),
    decodedBody: async (request) => (await import('./lent/decodedBody.ts')).decodedBody(request),
    openOutbound: async (trustsAny) => (await import('./lent/outbound.ts')).openOutbound(trustsAny),
  }
}
