/*
 * Scripts that are repeated when their outcome is unknown only read, so that a
 * second execution changes nothing; but for those that are known here.
 */
#include <string.h>

#include "state/scripts.h"
#include "testkit/testkit.h"

static const char *const reads[] = { "EXISTS", "GET", "GETRANGE", "HEXISTS",
	"HGET", "HGETALL", "HLEN", "HMGET", "HSTRLEN", "LINDEX", "LLEN",
	"LRANGE", "PTTL", "SCARD", "SISMEMBER", "SMEMBERS", "TIME", "XRANGE",
	"XREVRANGE", "ZCARD", "ZCOUNT", "ZRANGE", "ZRANGEBYLEX",
	"ZRANGEBYSCORE", "ZREVRANGEBYSCORE", "ZSCORE" };

static const struct state_script *const others[] = {
	/* The version that was stored is not stored again. */
	&script_alarm_swap,
	/* The same claims last for longer. */
	&script_alarm_due_extend,
	/* What is deleted already is not deleted. */
	&script_alarm_wipe, &script_turn_detail_wipe,
	/* A push is counted a single time. */
	&script_speech_count,
	/* It sets the same values. */
	&script_speech_settings_put,
	/* The same owner extends its lease, and has the same epoch. */
	&script_lease_acquire,
	/* It does not call what writes in lib_memory. */
	&script_memory_check_tombstone,
	/* Events that the record counts already are not appended. */
	&script_run_publish,
	/* An event is counted a single time. */
	&script_nav_note,
	/* So is an epoch. */
	&script_system_boot,
	/* What was stored first stays; the same claim lasts for longer. */
	&script_nav_decide,
	/* A cycle that has ended is not ended. */
	&script_nav_end,
	/* It sets the same value. */
	&script_mind_link_put,
	/* The version that was stored is not stored again. */
	&script_evolution_swap,
	/* A run that is to be canceled stays so. */
	&script_run_cancel,
	/* It sets the same note. */
	&script_run_note_put,
	/* Notes that are removed already are not removed. */
	&script_run_notes_done,
	/* The same runner is alive for longer. */
	&script_run_runner_renew,
	/* The newest generation stays. */
	&script_star_outdate,
	/* Those that are removed already are not removed. */
	&script_star_outdated,
	/* It sets the same value. */
	&script_turn_put_commit_time,
	/* An event waits a single time, or is sent a second time. */
	&script_webhook_enqueue,
	/* What waits already waits a single time. */
	&script_webhook_redeliver
};

static bool
is_read(const char *command, size_t n)
{
	size_t i;

	for (i = 0; i < sizeof(reads) / sizeof(*reads); i++)
		if (strlen(reads[i]) == n && memcmp(reads[i], command, n) == 0)
			return true;
	return false;
}

static bool
is_known(const struct state_script *s)
{
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (others[i] == s)
			return true;
	return false;
}

TEST(idempotent_scripts_only_read)
{
	static const char call[] = "call('";
	const char *at;
	size_t i, n, found = 0;

	for (i = 0; i < STATE_SCRIPTS; i++) {
		if (!state_scripts[i]->idempotent)
			continue;
		found++;
		if (is_known(state_scripts[i]))
			continue;
		for (at = state_scripts[i]->text;
		     (at = strstr(at, call)) != NULL; at += n) {
			at += strlen(call);
			n = strcspn(at, "'");
			ck_assert_msg(is_read(at, n), "%.*s in %s", (int)n, at,
			    state_scripts[i]->text);
		}
	}
	ck_assert_uint_gt(found, 10);
}
