import type { Command } from 'commander'
import type { TerminalTools } from '../tools.ts'
import { addFlowCommands } from './flowCommands.ts'
import { addNounChanges, addNounList } from './nounCommands.ts'
import { ACTIONS, CHANNELS, type Noun, RULES } from './nouns.ts'

const commandsOf =
  (noun: Noun) =>
  (command: Command, tools: TerminalTools): void => {
    addNounList(command, noun, tools)
    addNounChanges(command, noun, tools)
  }

export function addActionsCommands(command: Command, tools: TerminalTools): void {
  commandsOf(ACTIONS)(command, tools)
  addFlowCommands(command, tools)
}

export const addRulesCommands = commandsOf(RULES)

export const addChannelsCommands = commandsOf(CHANNELS)
