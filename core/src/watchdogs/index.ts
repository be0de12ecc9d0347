export { type Criteria, type CriteriaMatch, listCriteria, recordMatches } from './criteria.ts'
