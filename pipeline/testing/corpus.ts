export { feePayers, type RecordedTransaction, readCorpus } from '../../infra/corpus/read-corpus.ts'
