/*
 * Settings that contradict each other, or do not fit the machine.
 */
#include <stdio.h>
#include <sys/resource.h>

#include "core/mem.h"
#include "testkit/testkit.h"

TEST(settings_are_checked)
{
	static const struct {
		const char *arg, *setting;
		int code;
		const char *output;
	} rows[] = {
		{ "--check-config", NULL, 0, "" },
		{ "--help", NULL, 0, "STAR_QUEUE_BYTES" },
		{ "--check-config", "STAR_SENDER=ignore", 78,
		    "STAR_SENDER: use rewrite or refuse" },
		{ "--check-config", "STAR_GLOBAL_BROADCAST=maybe", 78,
		    "STAR_GLOBAL_BROADCAST: use on or off" },
		{ "--check-config", "STAR_TIMEOUT_MS=30000", 78,
		    "STAR_TIMEOUT_MS: must be over STAR_HEARTBEAT_MS" },
		{ "--check-config", "STAR_CONNECTIONS=768", 0, "" },
		{ "--check-config", "STAR_CONNECTIONS=769", 78,
		    "STAR_CONNECTIONS: the hard limit of open files" },
		{ "--check-config", "STAR_MESSAGE_BYTES=1048577", 78,
		    "STAR_MESSAGE_BYTES" },
		{ "--check-config", "STAR_QUEUE_BITES=1", 0,
		    "STAR_QUEUE_BITES" },
		{ "--check-config", "HTTP_ADDR=0.0.0.0:9014", 78,
		    "can be reached from other machines without" },
		{ "--check-config", "HTTP_ADDR=localhost:9014", 78,
		    "HTTP_ADDR: " },
		{ "--check-config", "CORS_ORIGINS=*", 78, "CORS_ORIGINS=*" },
	};
	struct rlimit files = { 1024, 1024 };
	size_t i;

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	for (i = 0; i < NELEM(rows); i++) {
		const char *const argv[] = { tk_bin("star-hub"), rows[i].arg,
			NULL };
		const char *const env[] = { rows[i].setting, NULL };
		char name[16];
		struct tk_proc p;

		(void)snprintf(name, sizeof(name), "check%zu", i);
		tk_spawn(&p, name, argv, env);
		ck_assert_int_eq(tk_wait(&p, 10000), rows[i].code);
		ck_assert_msg(tk_log_has(&p, rows[i].output), "%s: no %s",
		    rows[i].setting, rows[i].output);
	}
}
