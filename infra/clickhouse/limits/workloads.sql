-- Gives the service CPU before analysts, by a workload for each. Run once as an administrator of a
-- real ClickHouse server.
-- UNTESTED: the library that `npm run servers` runs accepts these statements and ignores them.
-- The profile `analyst` names the workload `analyst`. Every other query is in workload `default`.
CREATE RESOURCE IF NOT EXISTS cpu (MASTER THREAD, WORKER THREAD);
CREATE WORKLOAD IF NOT EXISTS everything;
CREATE WORKLOAD IF NOT EXISTS default IN everything SETTINGS priority = 0;
CREATE WORKLOAD IF NOT EXISTS analyst IN everything SETTINGS priority = 10, max_concurrent_threads = 4;
