import type { Command } from 'commander'
import type { ProgramTools } from '../../programTools.ts'
import { addFlowCommands } from './flowCommands.ts'
import { addNounChanges, addNounList } from './nounCommands.ts'
import { ACTIONS, CHANNELS, type Noun, RULES } from './nouns.ts'

const commandsOf =
  (noun: Noun) =>
  (command: Command, tools: ProgramTools): void => {
    addNounList(command, noun, tools)
    addNounChanges(command, noun, tools)
  }

/** `creel actions …` */
export function addActionsCommands(command: Command, tools: ProgramTools): void {
  commandsOf(ACTIONS)(command, tools)
  addFlowCommands(command, tools)
}

/** `creel rules …` */
export const addRulesCommands = commandsOf(RULES)

/** `creel channels …` */
export const addChannelsCommands = commandsOf(CHANNELS)
