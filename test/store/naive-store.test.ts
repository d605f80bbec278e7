import { wordFeatures } from './feature-sample.ts'
import { NaiveStore } from './naive-store.ts'
import { storeContract } from './store-contract.ts'

// The yardstick of the other stores keeps the promises itself, so these do not depend on any database.
storeContract('naive store', async () => {
  const store = new NaiveStore(wordFeatures)
  const reopen = async () => store.reopened()
  return { store, hasFeatureIndex: true, reopen, destroy: async () => undefined }
})
