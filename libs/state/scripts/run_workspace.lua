-- run_workspace: whether a run uses a workspace.
--
-- KEYS: workspace
-- Result: {OK, 1 or 0}

--@idempotent

return { RC_OK, redis.call('EXISTS', KEYS[1]) }
