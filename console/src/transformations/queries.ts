import { queryOptions } from '@tanstack/react-query'
import { type Answers, creel } from '../trpc.ts'

export type Rule = Answers['transformations']['getSet']['rules'][number]

export const ruleSetQuery = (endpointId: string, actionId: string | undefined) =>
  queryOptions({
    queryKey: ['rules', endpointId, actionId],
    queryFn: () => creel.transformations.getSet.query({ endpointId, actionId }),
  })

export const versionsQuery = (endpointId: string, ruleId: string, version: number) =>
  queryOptions({
    queryKey: ['versions', endpointId, ruleId, version],
    queryFn: () => creel.transformations.versions.query({ endpointId, ruleId }),
  })

/** The rule language as JSON Schema; constant while the page is open. */
export const ruleSchemaQuery = queryOptions({
  queryKey: ['rule schema'],
  queryFn: () => creel.transformations.schema.query({}),
  staleTime: Number.POSITIVE_INFINITY,
})
