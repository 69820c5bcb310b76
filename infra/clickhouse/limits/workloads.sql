-- CPU for the service before analysts: a workload of each. Run once as an administrator of a real ClickHouse server.
-- UNTESTED here: the library that `npm run servers` runs accepts these statements and schedules nothing by them.
-- The profile `analyst` names the workload `analyst`; every other query is of the workload `default`.
CREATE RESOURCE IF NOT EXISTS cpu (MASTER THREAD, WORKER THREAD);
CREATE WORKLOAD IF NOT EXISTS everything;
CREATE WORKLOAD IF NOT EXISTS default IN everything SETTINGS priority = 0;
CREATE WORKLOAD IF NOT EXISTS analyst IN everything SETTINGS priority = 10, max_concurrent_threads = 4;
